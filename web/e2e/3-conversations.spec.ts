import { answered, box, enter, expect, holds, noSockets, retention, say, test, upload } from './stage.ts';

// Requirements: UI-15
test('drafts survive a reload, each in its conversation', async ({ page }) => {
  await enter(page);
  await box(page).fill('a thought not yet');
  await expect.poll(() => page.evaluate(() => localStorage.getItem('liminal.drafts'))).toContain('a thought not yet');
  await page.reload();
  await holds(page, 'a thought not yet');
  await say(page, 'Something else');
  await answered(page);
  await box(page).fill('for this one');
  await page.getByRole('link', { name: 'New conversation' }).click();
  await holds(page, '');
  await page.goBack();
  await holds(page, 'for this one');
});

test('what is typed while the first words are on their way goes along into their conversation', async ({ page }) => {
  await noSockets(page);
  await enter(page);
  let free: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (free = resolve));
  await page.route('**/v1/chat', async (route) => {
    await held;
    await route.continue();
  });
  await say(page, 'The first words');
  await expect(page.locator('.said')).toHaveText('The first words');
  await page.keyboard.type('and then');
  free();
  await expect(page).toHaveURL(/\/c\//);
  await expect(box(page)).toBeFocused();
  await page.keyboard.type(' more');
  await holds(page, 'and then more');
  await page.getByRole('link', { name: 'New conversation' }).click();
  await holds(page, '');
});

test('words that could not be sent are given back', async ({ page, watch }) => {
  watch.expected.push(/429/);
  await noSockets(page);
  await enter(page);
  await page.route('**/v1/chat', (route) =>
    route.fulfill({ status: 429, json: { status: 'error', error: { code: 'rate_limited', message: 'Too many questions in a minute. Wait a little.' } } }),
  );
  await say(page, 'an important question');
  await expect(page.getByRole('alert')).toContainText('Too many questions in a minute.');
  await holds(page, 'an important question');
});

test('Enter that ends a composition does not send', async ({ page }) => {
  await enter(page);
  await box(page).fill('にほ');
  await box(page).dispatchEvent('keydown', { key: 'Enter', keyCode: 229, isComposing: true });
  await expect(page.locator('.said')).toHaveCount(0);
  await box(page).press('Shift+Enter');
  await holds(page, 'にほ\n');
});

// Requirements: UI-07 (before the server has answered)
test('what is said stands there before the server has answered, and once', async ({ page }) => {
  await noSockets(page); // a request can be held, a frame cannot
  await enter(page);
  let release = () => {};
  const held = new Promise<void>((done) => (release = done));
  await page.route(/\/v1\/chat$/, async (route) => {
    await held;
    await route.continue();
  });
  await say(page, 'Is anybody there?');
  await expect(page.locator('.said')).toHaveText('Is anybody there?');
  await expect(box(page)).toHaveText('');
  release();
  await answered(page);
  await expect(page.locator('.said')).toHaveText('Is anybody there?');
});

// Requirements: UI-03 (listed by updated_at; search by title; active highlight; New conversation; search by id)
test('conversations are listed, found, renamed and deleted', async ({ page }) => {
  await enter(page);
  await say(page, 'First subject');
  await answered(page);
  await page.getByRole('link', { name: 'New conversation' }).click();
  await say(page, 'Second subject');
  await answered(page);
  const list = page.getByRole('navigation', { name: 'Conversations' });
  await expect(list.locator('.row .name')).toHaveText(['Second subject', 'First subject']);
  await expect(list.locator('[aria-current=page]')).toContainText('Second subject');

  await list.getByRole('searchbox').fill(page.url().split('/').at(-1)!);
  await expect(list.locator('.row .name')).toHaveText(['Second subject']);
  await list.getByRole('searchbox').fill('first');
  await expect(list.locator('.row .name')).toHaveText(['First subject']);
  await expect(list.getByRole('region', { name: 'In messages' }).locator('mark').first()).toHaveText('First');
  await list.getByRole('button', { name: 'Actions for “First subject”' }).click();
  await list.getByRole('button', { name: 'Pin', exact: true }).click();
  await expect(list.getByRole('region', { name: 'Pinned' }).locator('.row .name')).toHaveText(['First subject']);
  await list.getByRole('button', { name: 'Actions for “First subject”' }).click();
  const [file] = await Promise.all([page.waitForEvent('download'), list.getByRole('button', { name: 'Export as Markdown' }).click()]);
  expect(file.suggestedFilename()).toBe('First subject.md');
  await list.getByRole('button', { name: 'Actions for “First subject”' }).click();
  await list.getByRole('button', { name: 'Rename' }).click();
  await list.getByLabel('New title').fill('Renamed at first');
  await list.getByLabel('New title').press('Enter');
  await expect(list.locator('.row .name')).toHaveText(['Renamed at first']);

  await list.getByRole('searchbox').fill('');
  await list.getByRole('button', { name: 'Actions for “Second subject”' }).click();
  await list.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await expect(list.locator('.row .name')).toHaveText(['Renamed at first']);
  await expect(page).toHaveURL(/\/$/);
});

test('another person’s conversation is not there', async ({ page, browser, watch }) => {
  watch.expected.push(/404/);
  await enter(page);
  await say(page, 'A private matter');
  await answered(page);
  const address = page.url();
  const other = await browser.newPage();
  await enter(other, new URL('/', address).href);
  await other.goto(address);
  await expect(other.getByText('There is no such conversation, or it is not yours.')).toBeVisible();
  await other.close();
});

// Requirements: FILE-09
test('files that cannot be read say why, and the rest goes on', async ({ page }) => {
  await enter(page);
  const sent: string[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/v1/files/upload')) sent.push(request.method());
  });
  await upload(page, 'program.exe', 'MZ');
  await expect(page.locator('.tray')).toContainText('This kind of file cannot be read.');
  expect(sent).toEqual([]);
  await upload(page, 'retention.md', retention);
  await expect(page.getByText(/Ready/)).toBeVisible();
  await page.getByRole('navigation', { name: 'Parts of Liminal' }).getByRole('link', { name: 'Contexts' }).click();
  await page.getByRole('link', { name: /^My documents/ }).click();
  await expect(page.locator('.document-list .name')).toHaveText(/retention/i);
  await page.getByRole('button', { name: /^Delete “/ }).click();
  await page.getByRole('dialog', { name: 'Delete' }).getByRole('button', { name: 'Delete' }).click();
  await expect(page.locator('.document-list li')).toHaveCount(0);
});

test('the slash goes to the box', async ({ page }) => {
  await enter(page);
  await page.getByRole('button', { name: 'Account' }).focus();
  await page.keyboard.press('/');
  await expect(box(page)).toBeFocused();
  await holds(page, '');
});
