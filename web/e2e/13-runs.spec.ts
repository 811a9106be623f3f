import { alsoAs, ask, asAdministrator, publish, tell } from './change.ts';
import { accessible, expect, test } from './stage.ts';

// Requirements: GRAPH-18, GRAPH-30, UI-02
test('an answer leads to the run behind it, its way, its reasons, and the same run on another version', async ({ page }) => {
  test.setTimeout(60_000);
  await asAdministrator(page);
  const artifact = await publish(page, 'traced');
  const turn = await tell(page, artifact, 'hello');
  await turn.getByRole('link', { name: 'Trace' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(`${artifact.name} v1`);
  const steps = page.locator('.trace').getByRole('listitem');
  await expect(steps.filter({ hasText: 'switch' })).toContainText('route');
  await steps.filter({ hasText: 'switch' }).getByRole('button').click();
  await expect(page.locator('.why-way')).toContainText('true');
  await expect(page.locator('.why-way')).toContainText('short');
  await expect(page.locator('.picture')).toBeVisible();
  await accessible(page, 'a run');

  const patch = [
    { op: 'add', path: '/nodes/0/branches/0', value: { when: "input.message == 'hello'", next: 'warm' } },
    { op: 'add', path: '/nodes/-', value: { id: 'warm', type: 'end', response: 'A warm welcome.' } },
  ];
  await ask(page, 'PATCH', `/v1/artifacts/${artifact.id}`, { patch, base_version: 1, change_note: 'warmer' });
  await page.reload();
  await page.locator('.replay').getByRole('combobox').selectOption('2');
  await page.getByRole('button', { name: 'Rehearse' }).click();
  const ways = page.locator('.replay .way');
  await expect(ways.first()).toContainText('short');
  await expect(ways.last().locator('[data-parted]')).toHaveText(['warm']);
  await expect(page.locator('.replay .outcome')).toContainText('How it would end: done');
  await accessible(page, 'a run on another version');
});

// Requirements: ISO-01, UI-02
test('an administrator finds everybody’s runs, and of another person’s only the way', async ({ page, browser }) => {
  test.setTimeout(60_000);
  await asAdministrator(page);
  const artifact = await publish(page, 'private');
  const other = await alsoAs(browser, page, 'user', 'uma');
  const secret = 'my secret is 4711';
  await tell(other, artifact, secret);
  await other.goto('/operate/runs');
  const theirs = other.getByRole('list', { name: 'Runs' }).getByRole('listitem');
  await expect(theirs).toHaveCount(1);
  await expect(other.getByRole('button', { name: 'Everybody’s' })).toHaveCount(0);

  await page.goto('/operate/runs');
  await page.getByLabel('Artifact').selectOption({ label: artifact.name });
  await expect(page.getByText('No run matches.')).toBeVisible();
  await page.getByRole('button', { name: 'Everybody’s' }).click();
  const rows = page.getByRole('list', { name: 'Runs' }).getByRole('listitem');
  await expect(rows).toHaveCount(1);
  await expect(rows).toContainText('uma');
  await accessible(page, 'the runs');
  await page.getByLabel('Status').selectOption('failed');
  await expect(page.getByText('No run matches.')).toBeVisible();
  await page.reload(); // the filter stands in the address
  await expect(page.getByLabel('Status')).toHaveValue('failed');
  await page.getByLabel('Status').selectOption('done');
  await rows.getByRole('link').click();
  await expect(page.locator('.trace')).toContainText('route');
  await expect(page.locator('body')).not.toContainText('4711');
  await other.context().close();
});

test('runs have room on a phone, in German and in the dark', async ({ page }) => {
  await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
  await page.setViewportSize({ width: 390, height: 800 });
  await asAdministrator(page);
  const artifact = await publish(page, 'small');
  await page.evaluate(() => localStorage.setItem('liminal.language', 'de'));
  await page.goto('/');
  await page.getByLabel('Ablauf', { exact: true }).selectOption({ label: artifact.name });
  await page.locator('#message').fill('hallo');
  await page.locator('#message').press('Enter');
  await page.locator('.turn-foot').getByRole('link', { name: 'Spur' }).click();
  await expect(page.getByText('So ging der Lauf')).toBeVisible();
  const tooWide = () => page.evaluate(() => [...document.querySelectorAll('html, main')].some((one) => one.scrollWidth > one.clientWidth));
  expect(await tooWide()).toBe(false);
  await accessible(page, 'a run');
  await page.getByRole('link', { name: 'Läufe', exact: true }).click();
  await expect(page.getByRole('heading', { name: 'Läufe' })).toBeVisible();
  expect(await tooWide()).toBe(false);
  await accessible(page, 'the runs');
});
