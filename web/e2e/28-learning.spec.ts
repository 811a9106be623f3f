import type { Page } from '@playwright/test';
import { accessible, answered, box, enter, expect, say, test, upload } from './stage.ts';

const rules = `# Retention

Invoices shall be retained for ten years after the end of the year in which they were issued. Letters about an order shall be retained for six years after the order is closed. Records of wages shall be retained for eight years after the employment ends. Drafts that were never sent need not be retained at all.

# Exceptions

Invoices that are part of a dispute shall be retained until the dispute is settled. Invoices of foreign branches shall be retained as the law of the branch demands, and for ten years at least. The controller lists all invoices that are retained for longer, and says why.
`;

async function toLearning(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Account', exact: true }).click();
  await page.getByRole('dialog', { name: 'Account' }).getByRole('link', { name: 'Learning' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Learning' })).toBeVisible();
  await expect(page.locator('.learn-now')).toBeVisible();
}

/** The way back to the conversation that was open last. */
async function toChat(page: Page): Promise<void> {
  await page.getByRole('navigation', { name: 'Parts of Liminal' }).getByRole('link', { name: 'Chat' }).click();
  await expect(box(page)).toBeVisible();
}

/** Asks once more, and returns the answer's turn. */
async function ask(page: Page) {
  const before = await page.locator('.turn').count();
  await say(page, 'How long shall invoices be retained?');
  await expect(page.locator('.turn')).toHaveCount(before + 1);
  return answered(page);
}

async function tooLong(page: Page, why: string): Promise<void> {
  const turn = await ask(page);
  await turn.getByRole('button', { name: 'Bad answer' }).click();
  await turn.getByRole('button', { name: 'Add a note' }).click();
  await turn.getByLabel('Why?').fill(why);
  await turn.getByRole('button', { name: 'Save note' }).click();
  await expect(turn.getByRole('button', { name: 'Change the note' })).toBeVisible();
}

async function learnNow(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Learn now' }).click();
  await expect(page.locator('.learn-now')).toContainText(/Done\./, { timeout: 120_000 });
}

/** A picture to look at, where somebody wants one. */
async function shot(page: Page, name: string): Promise<void> {
  if (process.env['SHOTS']) await page.screenshot({ path: `${process.env['SHOTS']}/${name}.png`, fullPage: true });
}

const words = async (page: Page) => (await page.locator('.turn').last().locator('.prose').innerText()).split(/\s+/).length;

test('three notes that answers are too long make the next one shorter, which says why, until it is undone', async ({ page }) => {
  test.setTimeout(400_000);
  await enter(page);
  await upload(page, 'retention.md', rules);
  await expect(page.getByText(/Ready/)).toBeVisible();

  // Who taught nothing is told what to do.
  await toLearning(page);
  await expect(page.locator('.lessons')).toContainText('Press the thumb below an answer.');
  await toChat(page);

  await tooLong(page, 'Too long.');
  const told = page.locator('.turn').last().locator('.first-thumb');
  await expect(told).toContainText('learns from this how you want to be answered');
  await shot(page, 'first-thumb');
  await tooLong(page, 'This is still too long.');
  await tooLong(page, 'Far too long, please be brief.');
  const long = await words(page);

  await toLearning(page);
  await expect(page.locator('.learn-now')).toContainText('6 thumbs and notes of yours wait to be read.');
  await learnNow(page);
  const lesson = page.locator('.lesson').first();
  await expect(lesson.locator('.standing')).toHaveText('Followed');
  const sentence = (await lesson.locator('.lesson-text').innerText()).trim();
  await lesson.getByText('From 3 notes').click();
  await expect(lesson.locator('.events')).toContainText('This is still too long.');
  await expect(page.locator('.lesson-change').first()).toContainText('Put to use without asking');
  await expect(page.locator('.lesson-change').first()).toContainText('Not tried: no language model is configured.');
  await accessible(page, 'what was learnt');
  await shot(page, 'learnt');

  await toChat(page);
  let turn = await ask(page);
  await expect(turn.locator('.followed')).toContainText(sentence);
  expect(await words(page)).toBeLessThan(long);
  await accessible(page, 'an answer that followed something');
  await shot(page, 'followed');

  // Off in one press, and on again.
  await turn.getByRole('button', { name: `Off: ${sentence}` }).click();
  await expect(turn.locator('.followed')).toContainText('switched off');
  turn = await ask(page);
  await expect(turn.locator('.followed')).toHaveCount(0);
  expect(await words(page)).toBe(long);
  await toLearning(page);
  await expect(lesson.locator('.standing')).toHaveText('Switched off');
  await lesson.getByRole('checkbox').check();
  await expect(lesson.locator('.standing')).toHaveText('Followed');

  await page.getByRole('button', { name: /^Undo/ }).first().click(); // the adapter has it as well
  await expect(page.locator('.learning-said')).toHaveText('Undone. Answers are as before.');
  await expect(lesson.locator('.standing')).toHaveText('Not followed: you took it back');
  await toChat(page);
  turn = await ask(page);
  await expect(turn.locator('.followed')).toHaveCount(0);
  expect(await words(page)).toBe(long);

  // And everything goes when asked to.
  await toLearning(page);
  await page.getByRole('button', { name: 'Forget everything' }).click();
  await expect(page.getByRole('dialog')).toContainText('every thumb and note under your answers');
  await accessible(page, 'what goes');
  await page.getByRole('dialog').getByRole('button', { name: 'Forget everything' }).click();
  await expect(page.locator('.learning-said')).toHaveText('Forgotten, with 6 thumbs and notes.');
  await expect(page.locator('.lesson')).toHaveCount(0);
  await toChat(page);
  await expect(page.getByRole('button', { name: 'Bad answer', pressed: true })).toHaveCount(0);
});

test('who wants to be asked decides, and only then it counts', async ({ page }) => {
  await enter(page); // not the first account, so that nobody here is an administrator
  await upload(page, 'retention.md', rules);
  await expect(page.getByText(/Ready/)).toBeVisible();
  for (const why of ['Too long.', 'This is still too long.', 'Far too long, please be brief.']) await tooLong(page, why);
  await toLearning(page);
  const unasked = page.getByRole('checkbox', { name: 'Change my answers without asking' });
  await unasked.uncheck();
  await expect(unasked).toBeEnabled(); // the server has it
  await learnNow(page);
  const standing = page.locator('.lesson').first().locator('.standing');
  await expect(standing).toHaveText('Waits for your decision', { timeout: 90_000 });
  await accessible(page, 'a lesson that waits');
  await shot(page, 'waits');
  await page.getByRole('link', { name: 'Look at it, and decide' }).click();
  await page.getByRole('button', { name: 'Approve' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Approve' }).click();
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Apply' }).click();
  await expect(page.locator('.decision')).toContainText('applied');
  await toLearning(page);
  await expect(standing).toHaveText('Followed');
  await expect(page.locator('.lesson-change')).toContainText('Put to use, as you decided.');
});

test('who does not want it says so, and nothing is learnt', async ({ page }) => {
  await enter(page);
  await toLearning(page);
  await page.getByRole('checkbox', { name: 'Learn from what I say of answers' }).uncheck();
  await expect(page.locator('.learning-off')).toContainText('You have switched learning off.');
  await expect(page.getByRole('button', { name: 'Learn now' })).toBeDisabled();
  await page.reload();
  await expect(page.getByRole('checkbox', { name: 'Learn from what I say of answers' })).not.toBeChecked();
});

for (const shape of [
  { name: 'dark', scheme: 'dark' as const, size: { width: 1280, height: 860 } },
  { name: 'phone', scheme: 'light' as const, size: { width: 390, height: 800 } },
]) {
  test(`Learning is for everybody: ${shape.name}, in German`, async ({ page }) => {
    await page.emulateMedia({ colorScheme: shape.scheme, reducedMotion: 'reduce' });
    await enter(page);
    await page.evaluate(() => localStorage.setItem('liminal.language', 'de'));
    await page.setViewportSize(shape.size);
    await page.goto('/settings/learning');
    await expect(page.getByText('Es ist noch nichts gelernt.')).toBeVisible();
    await accessible(page, 'Learning in German');
    await shot(page, `learning-${shape.name}`);
    expect(await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth)).toBe(false);
  });
}
