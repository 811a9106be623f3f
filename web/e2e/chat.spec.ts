import { answered, box, enter, expect, retention, say, test, upload, workflow } from './stage.ts';

// Requirements: UI-05, UI-07
test('an uploaded document answers with a quote whose citation opens the passage', async ({ page }) => {
  await enter(page);
  await upload(page, 'retention.md', retention);
  await expect(page.getByText(/Ready/)).toBeVisible();
  await say(page, 'How many years shall records be retained?');
  await expect(page.locator('.said').last()).toHaveText('How many years shall records be retained?');

  const turn = await answered(page);
  await expect(turn.locator('.prose')).toContainText('retained for seven years');
  const chip = turn.locator('.prose button.cite').first();
  await expect(chip).toHaveAttribute('title', /retention/);
  await chip.click();
  const sheet = page.getByRole('dialog');
  await expect(sheet.getByRole('heading', { level: 2 })).toBeFocused();
  await expect(sheet.locator('mark')).toContainText('retained for seven years');
  await expect(sheet.locator('.document-text')).toContainText('The controller states the legal basis');

  await page.keyboard.press('Escape');
  await expect(sheet).toBeHidden();
  await expect(chip).toBeFocused();
  await expect(turn.getByRole('link', { name: 'Run' })).toHaveAttribute('href', /\/namespaces\/[^/]+\/workflows\/chat/);
});

test('without a model, the page says that nothing is generated', async ({ page }) => {
  await enter(page);
  await expect(
    page.getByText('No language model is configured. Answers are quoted from your documents and tool results; nothing is generated.'),
  ).toBeVisible();
});

test('what was said is there after a reload, evidence and all', async ({ page }) => {
  await enter(page);
  await upload(page, 'retention.md', retention);
  await expect(page.getByText(/Ready/)).toBeVisible();
  await say(page, 'How many years shall records be retained?');
  const before = await (await answered(page)).locator('.prose').innerText();
  await page.reload();
  const turn = await answered(page);
  expect(await turn.locator('.prose').innerText()).toBe(before);
  await expect(turn.locator('.evidence').first()).toBeVisible();
  await turn.locator('.evidence summary').first().click();
  await expect(turn.locator('.evidence pre').first()).toBeVisible();
});

// Requirements: UI-33
test('an answer full of traps is only words', async ({ page }) => {
  await enter(page);
  await workflow(page, 'hostile', [
    {
      id: 'done',
      type: 'end',
      response:
        'Raw HTML must never run: <img src=x onerror="window.__xss=1"> <script>window.__xss=1</script> [click](javascript:window.__xss=1) ![pixel](https://example.com/pixel.png)\n\n<div onclick="window.__xss=1">block</div>\n\nand [9] is no source.',
    },
  ]);
  const foreign: string[] = [];
  page.on('request', (request) => {
    if (new URL(request.url()).host !== new URL(page.url()).host) foreign.push(request.url());
  });
  await say(page, 'Show me');
  const turn = await answered(page);
  await expect(turn.locator('.prose')).toContainText('<img src=x onerror="window.__xss=1">');
  await expect(turn.locator('.prose')).toContainText('and [9] is no source');
  expect(await turn.locator('.prose img, .prose script, .prose a, .prose [onclick]').count()).toBe(0);
  expect(await page.evaluate(() => '__xss' in window)).toBe(false);
  expect(foreign).toEqual([]);
});

// Requirements: STREAM-24
test('a dropped connection resumes without loss or repeat', async ({ page }) => {
  await enter(page);
  await upload(page, 'retention.md', retention);
  await expect(page.getByText(/Ready/)).toBeVisible();
  const asked: (string | undefined)[] = [];
  await page.route('**/v1/runs/*/events', async (route) => {
    asked.push(route.request().headers()['last-event-id']);
    if (asked.length > 1) return route.continue();
    // The first reader gets the beginning only, as when the line drops.
    const response = await route.fetch();
    const frames = (await response.text()).split('\n\n');
    const some = frames.slice(0, Math.max(3, Math.floor(frames.length / 2)));
    return route.fulfill({ response, body: `${some.join('\n\n')}\n\n` });
  });
  await say(page, 'How many years shall records be retained?');
  const turn = await answered(page);
  expect(asked).toHaveLength(2);
  expect(asked[0]).toBeUndefined();
  expect(Number(asked[1])).toBeGreaterThan(0);
  const text = await turn.locator('.prose').innerText();
  await page.reload();
  expect(await (await answered(page)).locator('.prose').innerText()).toBe(text);
});

// Requirements: UI-15
test('drafts survive a reload, each in its conversation', async ({ page }) => {
  await enter(page);
  await box(page).fill('a thought not yet');
  await expect.poll(() => page.evaluate(() => localStorage.getItem('liminal.drafts'))).toContain('a thought not yet');
  await page.reload();
  await expect(box(page)).toHaveValue('a thought not yet');
  await say(page, 'Something else');
  await answered(page);
  await box(page).fill('for this one');
  await page.getByRole('link', { name: 'New conversation' }).click();
  await expect(box(page)).toHaveValue('');
  await page.goBack();
  await expect(box(page)).toHaveValue('for this one');
});

test('words that could not be sent are given back', async ({ page, watch }) => {
  watch.expected.push(/429/);
  await enter(page);
  await page.route('**/v1/chat', (route) =>
    route.fulfill({ status: 429, json: { status: 'error', error: { code: 'rate_limited', message: 'Too many questions in a minute. Wait a little.' } } }),
  );
  await say(page, 'an important question');
  await expect(page.getByRole('alert')).toContainText('Too many questions in a minute.');
  await expect(box(page)).toHaveValue('an important question');
});

test('Enter that ends a composition does not send', async ({ page }) => {
  await enter(page);
  await box(page).fill('にほ');
  await box(page).dispatchEvent('keydown', { key: 'Enter', keyCode: 229, isComposing: true });
  await expect(page.locator('.said')).toHaveCount(0);
  await box(page).press('Shift+Enter');
  await expect(box(page)).toHaveValue('にほ\n');
});

// Requirements: UI-03
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

  await list.getByRole('searchbox').fill('first');
  await expect(list.locator('.row .name')).toHaveText(['First subject']);
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

test('files that cannot be read say why, and the rest goes on', async ({ page }) => {
  await enter(page);
  await upload(page, 'program.exe', 'MZ');
  await expect(page.locator('.tray')).toContainText('This kind of file cannot be read.');
  await upload(page, 'retention.md', retention);
  await expect(page.getByText(/Ready/)).toBeVisible();
  await page.getByRole('button', { name: 'Documents', exact: true }).click();
  const sheet = page.getByRole('dialog');
  await expect(sheet.locator('.document-list .name')).toHaveText(/retention/i);
  await sheet.getByRole('button', { name: /^Delete “/ }).click();
  await page.getByRole('dialog', { name: 'Delete' }).getByRole('button', { name: 'Delete' }).click();
  await expect(sheet.locator('.document-list li')).toHaveCount(0);
});

test('the slash goes to the box', async ({ page }) => {
  await enter(page);
  await page.getByRole('button', { name: 'Account' }).focus();
  await page.keyboard.press('/');
  await expect(box(page)).toBeFocused();
  await expect(box(page)).toHaveValue('');
});
