import { accessible, answered, box, enter, expect, retention, say, test, upload, which, workflow } from './stage.ts';

const shapes = [
  { name: 'light', scheme: 'light' as const, size: { width: 1360, height: 860 } },
  { name: 'dark', scheme: 'dark' as const, size: { width: 1360, height: 860 } },
  { name: 'phone', scheme: 'light' as const, size: { width: 390, height: 800 } },
];

for (const shape of shapes) {
  // Requirements: UI-02 (single column below 640 px)
  test(`nothing is in the way of anyone: ${shape.name}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme: shape.scheme, reducedMotion: 'reduce' });
    await page.setViewportSize(shape.size);
    await enter(page);
    await accessible(page, 'empty');
    await upload(page, 'retention.md', retention);
    await upload(page, 'program.exe', 'MZ');
    await expect(page.getByText(/Ready/)).toBeVisible();
    await accessible(page, 'files on their way in');
    await say(page, 'How many years shall records be retained?');
    const turn = await answered(page);
    await turn.locator('.evidence summary').first().click();
    await accessible(page, 'an answer');
    await turn.locator('button.cite').first().click();
    await expect(page.locator('mark')).toBeVisible();
    await accessible(page, 'a passage');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Account' }).click();
    await accessible(page, 'the account');
    await page.keyboard.press('Escape');
    await workflow(page, 'ambiguous', [{ ...which, next: 'done' }, { id: 'done', type: 'end', response: 'You said ${vars.choice?}.' }]);
    await say(page, 'Check this letter');
    await expect(page.getByRole('region', { name: 'Needs your answer' })).toBeVisible();
    await accessible(page, 'a question');
  });
}

test('in German on a phone everything has room', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 800 });
  await enter(page);
  await page.getByRole('button', { name: 'Account' }).click();
  await page.getByRole('button', { name: 'DE, Deutsch' }).click();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('heading', { name: 'Zum Beispiel' })).toBeVisible();
  await expect(page.locator('html')).toHaveAttribute('lang', 'de');
  await expect(box(page)).toHaveAttribute('aria-placeholder', 'Frag deine Dokumente oder etwas anderes');
  await page.reload();
  await expect(page.getByText('Sieht nur, was du sehen darfst.')).toBeVisible();
  const tooWide = () => page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
  expect(await tooWide()).toBe(false);
  await page.getByRole('button', { name: 'Unterhaltungen zeigen' }).click();
  await expect(page.getByRole('link', { name: 'Neue Unterhaltung' })).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('button', { name: 'Unterhaltungen zeigen' })).toBeFocused();
  await accessible(page, 'German');
});

// Requirements: UI-02 (hidden below 1080 px), UI-01 (sidebar and main; four tabs; 280 px)
test('the sidebar is a drawer below 1080 px', async ({ page }) => {
  await enter(page);
  await expect(page.getByRole('navigation', { name: 'Conversations' })).toBeVisible();
  expect(await page.getByRole('navigation', { name: 'Conversations' }).evaluate((nav) => nav.getBoundingClientRect().width)).toBe(280);
  const tabs = page.getByRole('navigation', { name: 'Parts of Liminal' }).getByRole('link');
  for (const [index, name] of ['Chat', 'Contexts', 'Artifacts', 'Settings'].entries()) await expect(tabs.nth(index)).toContainText(name);
  await page.setViewportSize({ width: 1079, height: 800 });
  await expect(page.getByRole('navigation', { name: 'Conversations' })).toBeHidden();
  await page.getByRole('button', { name: 'Show conversations' }).click();
  await expect(page.getByRole('navigation', { name: 'Conversations' })).toBeVisible();
});

test('a chosen theme holds against the system’s, also after a reload', async ({ page }) => {
  await page.emulateMedia({ colorScheme: 'light' });
  await enter(page);
  await page.getByRole('button', { name: 'Account' }).click();
  await page.getByLabel('Theme').selectOption('dark');
  const background = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  await expect.poll(background).toBe('rgb(19, 23, 24)');
  await page.reload();
  await expect.poll(background).toBe('rgb(19, 23, 24)');
});
