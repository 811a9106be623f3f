import type { Page } from '@playwright/test';
import { accessible, answered, atRest, box, enter, expect, long, longConversation, noSockets, say, test, which, workflow } from './stage.ts';

const versions = (page: Page) => page.getByRole('group', { name: 'Versions of this message' });
const said = (page: Page) => page.locator('.said p');

async function change(page: Page, from: string, to: string): Promise<void> {
  const turn = page.locator('.turn', { hasText: from }).first();
  await turn.hover();
  await turn.getByRole('button', { name: 'Edit', exact: true }).click();
  const editor = page.getByRole('textbox', { name: 'Your message, changed' });
  await expect(editor).toBeFocused();
  await expect(editor).toHaveValue(from);
  await editor.fill(to);
  await editor.press('Enter');
}

test('other words make another version, and both stay', async ({ page }) => {
  await enter(page);
  await say(page, 'First matter');
  await answered(page);
  await say(page, 'Second matter');
  await expect(said(page)).toHaveText(['First matter', 'Second matter']);
  await answered(page);
  await change(page, 'First matter', 'First matter, said better');
  await expect(box(page)).toBeFocused();
  await expect(said(page)).toHaveText(['First matter, said better']);
  await answered(page);
  await expect(versions(page)).toContainText('2/2');

  // Back to the first words, with all that came after; by keyboard, which stays where it is.
  await versions(page).getByRole('button', { name: 'Previous version' }).focus();
  await page.keyboard.press('Enter');
  await expect(said(page)).toHaveText(['First matter', 'Second matter']);
  await expect(versions(page)).toContainText('1/2');
  await expect(versions(page).getByRole('button', { name: 'Previous version' })).toBeFocused();
  await page.reload();
  await expect(said(page)).toHaveText(['First matter', 'Second matter']);
  await versions(page).getByRole('button', { name: 'Next version' }).focus();
  await page.keyboard.press('ArrowRight');
  await expect(said(page)).toHaveText(['First matter, said better']);

  // A page that shows the others copes when it is looked at again.
  const other = await page.context().newPage();
  await other.goto(page.url());
  await expect(said(other)).toHaveText(['First matter, said better']);
  await versions(page).getByRole('button', { name: 'Previous version' }).click();
  await expect(said(page)).toHaveCount(2);
  await other.reload();
  await expect(said(other)).toHaveText(['First matter', 'Second matter']);
  await other.close();
});

test('an answer is asked for again, and the one before it can be looked at', async ({ page }) => {
  await enter(page);
  await say(page, 'Once more, please');
  const turn = await answered(page);
  const first = await turn.getByRole('link', { name: 'How it came about' }).or(turn.locator('a[href^="/operate/runs/"]')).first().getAttribute('href');
  await turn.getByRole('button', { name: 'Answer again' }).click();
  await expect(versions(page)).toContainText('2/2');
  const again = await answered(page);
  await expect(said(page)).toHaveText(['Once more, please']);
  await expect(again.locator('a[href^="/operate/runs/"]')).not.toHaveAttribute('href', first!);
  await versions(page).getByRole('button', { name: 'Previous version' }).click();
  await expect(versions(page)).toContainText('1/2');
  await expect(page.locator('a[href^="/operate/runs/"]').first()).toHaveAttribute('href', first!);
});

test('what is refused changes nothing, and gives the words back', async ({ page, watch }) => {
  watch.expected.push(/409/);
  await enter(page);
  await noSockets(page);
  await say(page, 'One');
  await answered(page);
  await say(page, 'Two');
  await expect(said(page)).toHaveCount(2);
  await answered(page);
  let refuse: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (refuse = resolve));
  await page.route('**/v1/chat', async (route) => {
    await held;
    await route.fulfill({ status: 409, json: { status: 'error', error: { code: 'conflict', reason: 'active', message: 'This conversation is being answered elsewhere.' } } });
  });
  await change(page, 'One', 'One, otherwise');
  await expect(said(page)).toHaveText(['One, otherwise']); // at once
  refuse();
  await expect(page.getByRole('alert')).toContainText('This conversation is being answered elsewhere.');
  await expect(said(page)).toHaveText(['Two']);
  const editor = page.getByRole('textbox', { name: 'Your message, changed' });
  await expect(editor).toHaveValue('One, otherwise');
  await editor.press('Escape');
  await expect(said(page)).toHaveText(['One', 'Two']);
  await expect(page.locator('.turn').first().getByRole('button', { name: 'Edit', exact: true })).toBeFocused();
  // What was typed is there again for who comes back to it.
  await page.keyboard.press('Enter');
  await expect(editor).toHaveValue('One, otherwise');
});

// Requirements: INT-16
test('while a question is open nothing before it can be changed, and the page says why', async ({ page }) => {
  await enter(page);
  await workflow(page, 'asks', [{ ...which, next: 'done' }, { id: 'done', type: 'end', response: 'So ${vars.choice?}.' }]);
  await say(page, 'Check this letter');
  const slip = page.getByRole('region', { name: 'Needs your answer' });
  await expect(slip).toBeVisible();
  const words = page.locator('.turn').first();
  await words.hover();
  const edit = words.getByRole('button', { name: 'Edit', exact: true });
  await expect(edit).toHaveAttribute('aria-disabled', 'true');
  await expect(edit).toHaveAttribute('title', /Possible once the open question is settled/);
  await edit.click({ force: true });
  await expect(page.getByRole('textbox', { name: 'Your message, changed' })).toHaveCount(0);
  await page.reload();
  await expect(slip.getByRole('button', { name: 'BankNegara2024' })).toBeVisible();
  await slip.getByRole('button', { name: 'Deriv2024' }).click();
  await answered(page);
  await change(page, 'Check this letter', 'Check that letter');
  await expect(slip).toContainText('Two regulations match.');
  await expect(said(page)).toHaveText(['Check that letter']);
});

test('a branch is a conversation of its own, and says where it comes from', async ({ page }) => {
  await enter(page);
  await say(page, 'The trunk');
  await answered(page);
  await say(page, 'And more of it');
  await expect(said(page)).toHaveCount(2);
  await answered(page);
  const trunk = page.url();
  const turn = page.locator('.turn').first();
  await turn.hover();
  await turn.getByRole('button', { name: 'Branch from here' }).click();
  await expect(page).not.toHaveURL(trunk);
  await expect(said(page)).toHaveText(['The trunk']);
  await expect(page.locator('.branched-from')).toContainText('Branched from The trunk');
  await say(page, 'A twig');
  await expect(said(page)).toHaveText(['The trunk', 'A twig']);
  await answered(page);
  await page.locator('.branched-from').getByRole('link').click();
  await expect(page).toHaveURL(trunk);
  await expect(said(page)).toHaveText(['The trunk', 'And more of it']);
});

// Requirements: UI-29
test('a conversation loads with its shape, an empty one offers beginnings, and what fails can be tried again', async ({ page, watch }) => {
  watch.expected.push(/403/);
  await enter(page);
  const token = await page.evaluate(() => sessionStorage.getItem('liminal.token'));
  const made = await page.request.post(new URL('/v1/conversations', page.url()).href, { headers: { Authorization: `Bearer ${token}` }, data: {} });
  const id = ((await made.json()) as { data: { conversation: { id: string } } }).data.conversation.id;
  let mode = 'hold';
  let free: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (free = resolve));
  await page.route(`**/v1/conversations/${id}/messages**`, async (route) => {
    if (mode === 'hold') await held;
    if (mode === 'well') return route.continue();
    return route.fulfill({ status: 403, json: { status: 'error', error: { code: 'forbidden', message: 'Not now.' } } });
  });
  await page.goto(`/c/${id}`);
  await expect(page.getByRole('status').filter({ hasText: 'Loading the conversation' })).toBeAttached();
  await expect(page.locator('.skeleton i').first()).toBeVisible();
  mode = 'fail';
  free();
  await expect(page.getByRole('alert')).toContainText('This conversation could not be loaded. Not now.');
  mode = 'well';
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect(page.locator('.empty')).toBeVisible();
  await expect(page.getByRole('alert')).toHaveCount(0);
  await page.locator('.empty button').first().click();
  await expect(said(page)).toHaveCount(1);
  await answered(page);
});

// Requirements: UI-29
test('a long conversation opens at its end, and what came before comes without a jump', async ({ page, watch }) => {
  watch.expected.push(/429/);
  await enter(page);
  await longConversation(page, 1_000);
  let free: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (free = resolve));
  await page.route('**/messages?before=*', async (route) => {
    await held;
    await route.fallback();
  });
  await page.goto(`/c/${long}`);
  await expect(page.getByText('Answer 500', { exact: true })).toBeInViewport();
  expect(await page.locator('.turn').count()).toBe(29); // of 60 messages, less a turn that may have begun before

  // The reader moves up to a turn; a page comes above it, and it stays where it is.
  const turns = page.locator('.turn');
  const first = await turns.first().getAttribute('aria-label');
  const known = page.getByRole('article', { name: first!, exact: true });
  const view = page.getByRole('log');
  await view.hover();
  await page.mouse.wheel(0, -100);
  await expect(page.getByRole('button', { name: 'Latest' })).toBeVisible();
  await known.scrollIntoViewIfNeeded();
  await expect(page.locator('.earlier')).toBeInViewport();
  const place = () => known.evaluate((it) => it.getBoundingClientRect().y);
  const top = await atRest(place);
  free();
  await expect.poll(() => turns.first().getAttribute('aria-label')).not.toBe(first);
  await expect(known).toBeInViewport();
  expect(Math.abs((await place()) - top)).toBeLessThan(4);

  // What cannot be loaded says so, keeps what is there, and can be tried again.
  let broken = true;
  await page.route('**/messages?before=*', (route) => (broken ? route.fulfill({ status: 429, json: { status: 'error', error: { code: 'rate_limited', message: 'Slower, please.' } } }) : route.fallback()));
  await view.evaluate((it) => {
    it.dispatchEvent(new WheelEvent('wheel', { deltaY: -1, bubbles: true }));
    it.scrollTop = 0;
  });
  await expect(page.getByRole('alert')).toContainText('Earlier messages could not be loaded. Slower, please.');
  const count = await page.locator('.turn').count();
  broken = false;
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect.poll(() => page.locator('.turn').count()).toBeGreaterThan(count);
});

for (const shape of [
  { name: 'light', width: 1360, dark: false, german: false },
  { name: 'dark', width: 1360, dark: true, german: false },
  { name: 'on a phone, in German', width: 390, dark: true, german: true },
]) {
  test(`a conversation with versions is in nobody’s way: ${shape.name}`, async ({ page }) => {
    await page.setViewportSize({ width: shape.width, height: 800 });
    await page.emulateMedia({ colorScheme: shape.dark ? 'dark' : 'light' });
    await enter(page);
    await say(page, 'Words to change');
    await answered(page);
    await change(page, 'Words to change', 'Changed words');
    await expect(said(page)).toHaveText(['Changed words']);
    await answered(page);
    if (shape.german) {
      await page.evaluate(() => localStorage.setItem('liminal.language', 'de'));
      await page.reload();
    }
    await page.locator('.turn').hover();
    await expect(page.getByRole('group', { name: shape.german ? 'Fassungen dieser Nachricht' : 'Versions of this message' })).toBeVisible();
    await accessible(page, `versions, ${shape.name}`);
    await page.getByRole('button', { name: shape.german ? 'Bearbeiten' : 'Edit', exact: true }).click();
    await accessible(page, `editing, ${shape.name}`);
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
  });
}
