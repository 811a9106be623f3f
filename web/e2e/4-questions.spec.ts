// Also on the lane: a question and its answer travel between processes.
import type { Page } from '@playwright/test';
import { ask } from './change.ts';
import { accessible, answered, box, enter, expect, holds, say, test, what, which, workflow } from './stage.ts';

const one = [{ ...which, next: 'done' }, { id: 'done', type: 'end', response: 'You said ${vars.choice?}.' }];
const two = [which, what, { id: 'done', type: 'end', response: 'You said ${vars.choice?} and ${vars.action?}.' }];

async function answerElsewhere(page: Page, value: string): Promise<void> {
  const [question] = await ask<{ interrupt_id: string }[]>(page, 'GET', '/v1/interrupts?status=pending');
  await ask(page, 'POST', '/v1/chat/resume', { interrupt_id: question!.interrupt_id, resume_value: { type: 'doc_choice', value } });
}

// Requirements: INT-16, UI-21, UI-22 (disabled while options are open; its sentence)
test('a question locks the box, survives a reload, and is answered with a key', async ({ page }) => {
  await enter(page);
  await workflow(page, 'ambiguous', one);
  await say(page, 'Check this letter');
  const slip = page.getByRole('region', { name: 'Needs your answer' });
  await expect(slip).toContainText('Two regulations match.');
  await expect(slip.getByRole('button').first()).toBeFocused();
  await expect(slip.getByRole('button').last()).toHaveText('Skip this question');
  await expect(box(page)).toBeDisabled();
  await expect(page.getByText('Please select an option above, or skip the question.')).toBeVisible();
  await expect(page.getByRole('img', { name: 'waits for your answer' })).toBeVisible();

  await page.reload();
  await expect(slip).toContainText('Two regulations match.');
  await expect(slip.getByRole('button', { name: 'BankNegara2024' })).toBeFocused();
  await page.keyboard.press('2');
  await expect(slip).toBeHidden();
  const turn = await answered(page);
  await expect(turn.locator('.prose')).toContainText('d2');
  await expect(turn.locator('.asked')).toContainText('You chose: Deriv2024');
  await expect(box(page)).toBeEnabled();

  await page.reload();
  await expect(page.locator('.turn').last().locator('.asked')).toContainText('Deriv2024');
  await expect(page.locator('.said')).toHaveCount(1);
});

// Requirements: INT-13
test('two questions in a row are answered one by one', async ({ page }) => {
  await enter(page);
  await workflow(page, 'twice', two);
  await say(page, 'Check this letter');
  const slip = page.getByRole('region', { name: 'Needs your answer' });
  await slip.getByRole('button', { name: 'All of these' }).click();
  await expect(slip).toContainText('And what should I do with it?');
  await slip.getByRole('button', { name: 'Audit' }).click();
  const turn = await answered(page);
  await expect(turn.locator('.asked')).toHaveCount(2);
  await expect(turn.locator('.asked').last()).toContainText('You chose: Audit');
  await say(page, 'And again');
  await expect(slip).toBeVisible();
});

// Requirements: INT-10
test('a skipped question frees the box and its reply is not shown', async ({ page }) => {
  await enter(page);
  await workflow(page, 'ambiguous', one);
  await say(page, 'Check this letter');
  await page.getByRole('button', { name: 'Skip this question' }).click();
  const turn = await answered(page);
  await expect(turn.locator('.asked')).toContainText('You skipped it.');
  await expect(turn.locator('.prose')).toHaveCount(0);
  await expect(box(page)).toBeEnabled();
  await expect(box(page)).toBeFocused();
  await page.reload();
  await expect(page.locator('.said')).toHaveCount(1);
  await expect(page.locator('.prose')).toHaveCount(0);
});

// Requirements: UI-22 (text_input goes to resume)
test('a question for words is answered in the box', async ({ page, watch }) => {
  watch.expected.push(/ERR_FAILED/);
  await enter(page);
  await workflow(page, 'write', [
    { id: 'ask', type: 'interrupt', interrupt_type: 'text_input', message: 'Which letter do you mean?', save_as: 'letter', next: 'done' },
    { id: 'done', type: 'end', response: 'You said ${vars.letter}.' },
  ]);
  await say(page, 'Check the letter');
  await expect(page.getByRole('region', { name: 'Needs your answer' })).toBeVisible();
  await expect(box(page)).toBeFocused();
  await expect(page.getByText('What you send now is the answer to the question above.')).toBeVisible();
  let lost = 0;
  await page.route('**/v1/chat/resume', (route) => (lost++ === 0 ? route.abort() : route.continue()));
  await say(page, 'the one of May');
  await expect(page.getByRole('alert')).toContainText('The server cannot be reached.');
  await holds(page, 'the one of May'); // nobody heard them, so they are not gone
  await box(page).press('Enter');
  const turn = await answered(page);
  await expect(turn.locator('.prose')).toContainText('the one of May');
  await expect(turn.locator('.asked')).toContainText('You answered: the one of May');
});

const trip: Record<string, unknown> = {
  id: 'ask',
  type: 'interrupt',
  interrupt_type: 'text_input',
  message: { en: 'Where do you want to go?', de: 'Wohin soll es gehen?' },
  save_as: 'trip',
  next: 'done',
  answer_schema: {
    type: 'object',
    required: ['to', 'nights', 'class'],
    properties: {
      to: { type: 'string', title: { en: 'Where to', de: 'Wohin' }, description: { en: 'A town or a region', de: 'Eine Stadt oder eine Gegend' }, pattern: '^[A-Z]' },
      nights: { type: 'integer', title: { en: 'Nights', de: 'Nächte' }, minimum: 1, maximum: 30, default: 2 },
      class: { title: { en: 'Class', de: 'Klasse' }, oneOf: [{ const: 'first', title: { en: 'First', de: 'Erste' } }, { const: 'second', title: { en: 'Second', de: 'Zweite' } }] },
      when: { type: 'string', format: 'date', title: { en: 'When', de: 'Wann' } },
      by: { type: 'array', title: { en: 'How', de: 'Womit' }, items: { enum: ['rail', 'bus', 'bicycle'] } },
      note: { type: 'string', format: 'textarea', title: { en: 'Anything else', de: 'Sonst noch etwas' } },
      dog: { type: 'boolean', title: { en: 'With a dog', de: 'Mit Hund' } },
    },
  },
};

// Requirements: UI-21, UI-22 (disabled while options are open; its sentence), INT-16, INT-32
test('a form says at its fields what is wrong, keeps what is written, and is asked in the language of its person', async ({ page, watch }) => {
  watch.expected.push(/400/);
  await enter(page);
  await workflow(page, 'trip', [trip, { id: 'done', type: 'end', response: 'To ${vars.trip.to} for ${vars.trip.nights}, ${vars.trip.class}.' }]);
  await say(page, 'Plan a trip');
  const slip = page.getByRole('region', { name: 'Needs your answer' });
  await expect(slip).toContainText('Where do you want to go?');
  await expect(slip.getByLabel('Where to')).toBeFocused();
  await expect(slip.getByLabel('Nights')).toHaveValue('2');
  await expect(box(page)).toBeDisabled();
  await expect(page.getByText('Please fill in the form above, or skip the question.')).toBeVisible();
  await accessible(page, 'a form');
  await slip.getByRole('button', { name: 'Send answer' }).click();
  await expect(slip.getByRole('alert')).toHaveText(['Please fill this in.', 'Please fill this in.']);
  await slip.getByLabel('Where to').fill('graz');
  await slip.getByLabel('Class').selectOption({ label: 'Second' });
  await slip.getByLabel('bus').check();
  await slip.getByLabel('Where to').press('Enter'); // the server alone knows the pattern
  await expect(slip.getByRole('alert')).toContainText('pattern');
  await expect(slip.getByLabel('Where to')).toBeFocused();
  await page.getByRole('link', { name: 'Contexts' }).click();
  await page.goBack();
  await expect(slip.getByLabel('bus')).toBeChecked();
  await slip.getByLabel('Where to').fill('Graz');
  await slip.getByRole('button', { name: 'Send answer' }).click();
  const turn = await answered(page);
  await expect(turn.locator('.prose')).toContainText('To Graz for 2, second.');
  const told = 'You answered: Where to: Graz; Nights: 2; Class: Second';
  await expect(turn.locator('.asked')).toContainText(told);
  await page.reload();
  await expect(page.locator('.turn').last().locator('.asked')).toContainText(told);

  await page.goto('/settings');
  const kept = page.waitForResponse((response) => response.url().endsWith('/v1/settings') && response.request().method() === 'PATCH');
  await page.locator('main').getByRole('button', { name: 'DE, Deutsch' }).click();
  await kept;
  await page.goto('/');
  await page.setViewportSize({ width: 390, height: 800 });
  await page.emulateMedia({ colorScheme: 'dark' });
  const chooser = page.getByLabel('Ablauf', { exact: true });
  await chooser.selectOption((await chooser.locator('option', { hasText: 'trip_' }).getAttribute('value'))!);
  await say(page, 'Plane eine Reise');
  const card = page.locator('.slip');
  await expect(card).toContainText('Wohin soll es gehen?');
  await expect(card.getByLabel('Nächte')).toBeVisible();
  await expect(card.getByLabel('Klasse').locator('option')).toHaveText(['Bitte wählen', 'Erste', 'Zweite']);
  await accessible(page, 'a form on a phone');
  expect(await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth)).toBe(false);
});

// Requirements: INT-31
test('an answer that comes too late says so and shows how things stand', async ({ page, watch }) => {
  watch.expected.push(/40[09]/);
  await enter(page);
  await workflow(page, 'ambiguous', one);
  await say(page, 'Check this letter');
  const slip = page.getByRole('region', { name: 'Needs your answer' });
  await expect(slip).toBeVisible();

  // The other answer comes while this one is on its way: before it, the buttons may be gone already.
  await page.route('**/v1/chat/resume', async (route) => {
    await answerElsewhere(page, 'd1');
    await route.continue();
  });
  await slip.getByRole('button', { name: 'Deriv2024' }).click();
  await expect(page.getByRole('alert')).toContainText('This question was already settled.');
  await expect(slip).toBeHidden();
  const turn = await answered(page);
  await expect(turn.locator('.prose')).toContainText('d1');
});

// What another program answers is over before this page looks again.
test('a question that was answered elsewhere goes away by itself', async ({ page }) => {
  await enter(page);
  await workflow(page, 'ambiguous', one);
  await say(page, 'Check this letter');
  const slip = page.getByRole('region', { name: 'Needs your answer' });
  await expect(slip).toBeVisible();
  await answerElsewhere(page, 'd2');
  await expect(slip).toBeHidden();
  await expect((await answered(page)).locator('.prose')).toContainText('d2');
  await expect(box(page)).toBeEnabled();
});

// Requirements: INT-13
test('the questions of parallel branches are each answered', async ({ page }) => {
  await enter(page);
  await workflow(page, 'several', [
    { id: 'both', type: 'parallel', branches: [{ next: 'which' }, { next: 'what' }], next: 'done' },
    { ...which, next: 'done' },
    what,
    { id: 'done', type: 'end', response: 'You said ${vars.choice?} and ${vars.action?}.' },
  ]);
  await say(page, 'Check this letter');
  const slip = page.getByRole('region', { name: 'Needs your answer' });
  await slip.getByRole('button', { name: 'BankNegara2024' }).click();
  await expect(slip).toContainText('And what should I do with it?');
  await slip.getByRole('button', { name: 'Summarize' }).click();
  const turn = await answered(page);
  await expect(turn.locator('.asked')).toHaveCount(2);
});
