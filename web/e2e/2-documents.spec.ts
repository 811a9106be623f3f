// Also on the lane: the server takes a file in, and the worker reads it.
import { fileURLToPath } from 'node:url';
import { answered, enter, expect, holds, noSockets, retention, say, test, upload, workflow } from './stage.ts';

// Requirements: UI-05, UI-07 (shown)
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
  const out = turn.getByRole('link', { name: 'Run', exact: true });
  await expect(turn.locator('.turn-foot > span', { hasText: /^[\d.]+ m?s$/ })).toBeVisible(); // what is known of its run is there
  const { data: ui } = await (await page.request.get('/v1/config/ui')).json();
  if (ui.temporal_ui) await expect(out).toHaveAttribute('href', /\/namespaces\/[^/]+\/workflows\/chat/);
  else await expect(out).toHaveCount(0); // a cluster that has no pages of its own to lead to
});

// Requirements: UI-05, UI-07 (shown)
test('a passage of a PDF is shown on its page, and the PDF opens there', async ({ page }) => {
  await enter(page);
  await page.locator('.tools input[type=file]').setInputFiles(fileURLToPath(new URL('../../internal/knowledge/extract/testdata/tower.pdf', import.meta.url)));
  await expect(page.getByText(/Ready/)).toBeVisible({ timeout: 120_000 });
  await say(page, 'What does a guided tour cost?');
  const turn = await answered(page);
  await turn.locator('.prose button.cite').first().click();
  const sheet = page.getByRole('dialog');
  await expect(sheet.locator('.where')).toContainText('Page 3 of 3');
  await expect(sheet.locator('mark')).toContainText('A guided tour costs seven euros');
  await expect(sheet.locator('.document-text')).not.toContainText('The fog signal sounds'); // that is on page 2
  const asked = page.context().waitForEvent('request', (request) => request.url().includes('/v1/files/download'));
  await sheet.getByRole('button', { name: 'Open the PDF at page 3' }).click();
  const shown = await asked;
  expect(new URL(shown.url()).searchParams.get('inline')).toBe('1');
  const answer = await page.request.get(shown.url());
  expect([answer.headers()['content-type'], answer.headers()['content-disposition']]).toEqual(['application/pdf', "inline; filename*=UTF-8''tower.pdf"]);
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
  await expect.poll(() => turn.locator('.prose').innerText()).toBe(before);
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

// Requirements: STREAM-24 (missed events are replayed)
test('a dropped connection resumes without loss or repeat', async ({ page }) => {
  await noSockets(page);
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

test('a turn that failed says so, also after a reload, and gives the question back', async ({ page }) => {
  await enter(page);
  await workflow(page, 'break', [
    { id: 'read', type: 'tool_call', tool: 'files.read_v1', inputs: { path: 'files/there-is-no-such-file.txt' }, max_retries: 0, next: 'done' },
    { id: 'done', type: 'end', response: 'unreachable' },
  ]);
  await say(page, 'Read it to me');
  await expect(page.locator('.failure')).toContainText('This turn failed.');
  await page.reload();
  await expect(page.locator('.failure')).toContainText('This turn failed.');
  await page.getByRole('button', { name: 'Put the question back' }).click();
  await holds(page, 'Read it to me');
});
