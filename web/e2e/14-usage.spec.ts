import type { Page } from '@playwright/test';
import { alsoAs, ask, asAdministrator, publish, turns } from './change.ts';
import { accessible, expect, test } from './stage.ts';

const tile = (page: Page, name: string) => page.locator('.tile').filter({ has: page.getByText(name, { exact: true }) });
const plot = (page: Page, name: string) => page.locator('.plot').filter({ has: page.getByRole('heading', { name }) });

// Requirements: GRND-38 (turns with median and p90; daily series; tool use and abandonment; usage and cost per person), GRND-40 (turns per working day; tool-use rate; tool calls per turn)
test('an administrator sees how the place is used, in pictures and in tables', async ({ page, browser }) => {
  await asAdministrator(page);
  await page.goto('/operate');
  await page.getByRole('link', { name: 'Usage' }).click();
  await expect(page.getByText('Nobody has asked anything')).toBeVisible();
  await accessible(page, 'no usage');

  const artifact = await publish(page, 'counted');
  const power = await alsoAs(browser, page, 'user', 'pat');
  await turns(page, artifact, 'What is due this week?', 1);
  await turns(power, artifact, 'what is due  this week', 2);
  await turns(power, artifact, 'What do I earn?', 2);
  await page.reload();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Usage');
  await expect(tile(page, 'Turns')).toContainText('5');
  await expect(tile(page, 'Turns')).toContainText('2 people');
  await expect(tile(page, 'Median time')).toContainText(/\d m?s/);
  await expect(tile(page, 'Given up')).toContainText('0 %');
  await expect(plot(page, 'Turns a day').getByRole('img')).toHaveAttribute('aria-label', /^5 turns; most on .*: 5\.$/);
  await expect(plot(page, 'Answers by time taken').locator('.plot-bar')).not.toHaveCount(0);

  // What two people asked alike is told; what one asked is theirs.
  const questions = page.getByRole('region', { name: 'Asked most' });
  await expect(questions.getByRole('listitem')).toHaveCount(1);
  await expect(questions.getByRole('listitem')).toContainText(/what is due\s+this week.*3 times · 2 people/i);
  await expect(page.getByText('What do I earn?')).toHaveCount(0);

  // Each picture is a table as well, by the keyboard too.
  const table = plot(page, 'Turns a day').getByRole('button', { name: /^Table/ });
  await table.focus();
  await page.keyboard.press('Enter');
  await expect(table).toHaveAttribute('aria-pressed', 'true');
  await expect(plot(page, 'Turns a day').getByRole('row')).toHaveCount(8);
  await expect(plot(page, 'Turns a day').getByRole('row').last().getByRole('cell')).toHaveText(['5', '5', '0', '0', '0', '2']);
  await page.keyboard.press('Tab');
  await expect(plot(page, 'Turns a day').getByRole('region')).toBeFocused();
  for (const name of ['How long answers take', 'Answers by time taken', 'Tokens a day']) {
    await plot(page, name).getByRole('button', { name: /^Table/ }).click();
    await expect(plot(page, name).getByRole('table')).toBeVisible();
  }
  await accessible(page, 'the tables');

  // The days stand in the address.
  await page.getByRole('button', { name: '28 days' }).click();
  await expect(page).toHaveURL(/days=28$/);
  await expect(plot(page, 'Turns a day').getByRole('row')).toHaveCount(29);
  await page.reload();
  await expect(page.getByRole('button', { name: '28 days' })).toHaveAttribute('aria-pressed', 'true');
  await expect(tile(page, 'Turns')).toContainText('5');

  // Nobody else is told.
  await power.goto('/operate');
  await expect(power.getByRole('heading', { level: 1 })).toBeVisible();
  await expect(power.getByRole('link', { name: 'Usage' })).toHaveCount(0);
  await power.context().close();
});

for (const shape of [
  { name: 'dark', scheme: 'dark' as const, width: 1360 },
  { name: 'on a phone', scheme: 'light' as const, width: 390 },
]) {
  test(`how the place is used can be read by everybody: ${shape.name}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme: shape.scheme, reducedMotion: 'reduce' });
    await page.setViewportSize({ width: shape.width, height: 860 });
    await asAdministrator(page);
    const artifact = await publish(page, 'looked');
    await turns(page, artifact, 'Hello', 1);
    await page.goto('/operate/usage?days=90');
    await expect(plot(page, 'Turns a day')).toBeVisible();
    await accessible(page, shape.name);
    expect(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)).toBeLessThanOrEqual(0);
    await page.evaluate(() => localStorage.setItem('liminal.language', 'de'));
    await page.reload();
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Nutzung');
    await accessible(page, `${shape.name}, in German`);
    expect(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)).toBeLessThanOrEqual(0);
  });
}

// Requirements: UI-34
test('who runs the place sees what waits for a decision, and looks at runs in Temporal’s own pages', async ({ page }) => {
  await asAdministrator(page);
  const artifact = await publish(page, 'pending');
  const { id } = await ask<{ id: number }>(page, 'POST', '/v1/config/patches', {
    artifact_id: artifact.id,
    patch: [{ op: 'replace', path: '/title', value: 'Renamed' }],
    justification: 'It should be called that.',
  });
  await page.goto('/operate');
  const row = page.getByRole('list', { name: 'Proposed changes' }).getByRole('listitem').filter({ hasText: artifact.name });
  await expect(row).toContainText('waits for a decision', { timeout: 90_000 });
  await row.getByRole('link').click();
  await expect(page).toHaveURL(new RegExp(`/operate/patches/${id}$`));

  await page.goto('/operate/runs?kind=patch&all=true');
  await page.getByRole('list', { name: 'Runs' }).getByRole('listitem').filter({ hasText: `#${id}` }).getByRole('link').click();
  const out = page.getByRole('link', { name: /Temporal/ });
  const { temporal_ui: pages } = await ask<{ temporal_ui: unknown }>(page, 'GET', '/v1/config/ui');
  await expect(page.locator('.byline .run-status')).toBeVisible(); // the run is there, and what leads out of it
  if (!pages) return expect(out).toHaveCount(0); // a cluster that has none, or has not told: nothing leads nowhere
  await expect(out).toHaveAttribute('target', '_blank');
  await expect(out).toHaveAttribute('rel', /noopener/);
  const address = (await out.getAttribute('href'))!;
  expect(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/namespaces\/[^/]+\/workflows\/patch/);
  // It leads to pages that are there.
  expect((await page.request.get(address)).ok()).toBe(true);
});
