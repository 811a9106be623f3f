import type { Locator, Page } from '@playwright/test';
import { accessible, answered, box, enter, expect, say, test, upload, workflow } from './stage.ts';

const travel = `# Travel policy

## Approval

Employees must obtain written approval from their manager before booking a flight.

## Limits

Hotel costs are reimbursed up to 120 euros a night.

## Deadlines

Expense reports must be handed in within 30 days of the end of the journey.
`;

const remote = `# Remote work policy

## Approval

Employees must obtain written approval from their manager before working abroad.

## Limits

Equipment costs are reimbursed up to 300 euros a year.

## Deadlines

Expense reports must be handed in within 14 days of the purchase.
`;

const letter =
  'I booked my flight to Berlin and have no written approval from my manager. The hotel cost 190 euros a night. I will hand in my expense report within 20 days of the end of the journey.';

/** Somebody new, with two policies that are alike, who chose the assistant. */
async function arrive(page: Page): Promise<void> {
  await enter(page);
  await upload(page, 'travel-policy.md', travel);
  await upload(page, 'remote-policy.md', remote);
  await expect(page.getByText(/^Ready/)).toHaveCount(2);
  await page.getByLabel('Workflow', { exact: true }).selectOption({ label: 'Document assistant' });
}

function slipOf(page: Page): Locator {
  return page.getByRole('region', { name: 'Needs your answer' });
}

// Requirements: OBS-09
test('a budget that is used up says what was used, and when it renews', async ({ page }) => {
  await enter(page); // the first of all, who may change budgets
  await upload(page, 'travel-policy.md', travel);
  await expect(page.getByText(/^Ready/)).toBeVisible();
  await page.getByLabel('Workflow', { exact: true }).selectOption({ label: 'Document assistant' });
  await say(page, 'Summarize the travel policy');
  await answered(page);

  const token = await page.evaluate(() => sessionStorage.getItem('liminal.token'));
  const headers = { Authorization: `Bearer ${token}` };
  const { data } = (await (await page.request.get('/v1/auth/me', { headers })).json()) as { data: { user: { id: string } } };
  const given = await page.request.patch(`/v1/users/${data.user.id}`, { headers, data: { budget: { tokens_per_day: 1, usd_per_month: 0 } } });
  expect(given.ok(), await given.text()).toBe(true);

  await say(page, 'Summarize it again');
  const failure = page.locator('.failure');
  await expect(failure).toContainText(/^Your budget of today is used up: [\d,]+ of 1 tokens\. It is renewed on (\w+ \d+|\d+ \w+) at /);
  await page.reload();
  await expect(failure).toContainText('Your budget of today is used up');
  await page.getByRole('button', { name: 'Account' }).click();
  await page.getByRole('button', { name: 'DE, Deutsch' }).click();
  await expect(failure).toContainText('Dein Budget für heute ist aufgebraucht');
});

// Requirements: UI-05, UI-06, UI-24 (document pills), UI-28 (confidence is shown; tokens are shown), STREAM-18
test('two documents are compared, each quote opens its passage, and the choice holds', async ({ page }) => {
  await enter(page);
  await expect(page.locator('.tools input[type=file]')).toHaveAttribute('accept', /\.docx.*\.pptx.*\.xlsx/);
  const chooser = page.getByLabel('Workflow', { exact: true });
  await expect(chooser.locator('option')).toHaveText(['Automatic', 'Notes', 'Paliadin', 'Document assistant', 'Another, by id or name…']);
  await upload(page, 'travel-policy.md', travel);
  await upload(page, 'remote-policy.md', remote);
  await expect(page.getByText(/^Ready/)).toHaveCount(2);
  await chooser.selectOption({ label: 'Document assistant' });
  await say(page, 'Compare the travel policy and the remote work policy on approval and deadlines');
  const turn = await answered(page);
  await expect(turn.locator('.prose')).toContainText('before booking a flight');
  await expect(turn.locator('.prose')).toContainText('within 14 days of the purchase');

  // The way there: each stage once, and the documents it found.
  await turn.locator('.steps summary').click();
  const steps = turn.locator('.steps li');
  await expect(steps).toContainText(['Clarifying intent...', 'Finding documents...', 'Validating request...', 'Comparing documents...', 'Formatting response...']);
  await expect(steps.nth(1).locator('.pill')).toHaveText(['Travel policy', 'Remote work policy']);
  expect(await steps.nth(1).locator('.pill').first().evaluate((pill) => getComputedStyle(pill, '::before').content)).toContain('📄');
  await expect(turn.locator('.turn-foot')).toContainText(/extractive.*\d tokens/);
  await expect(turn.locator('.confidence')).toHaveText(/supported$/);

  await turn.locator('.prose button.cite').last().click();
  const sheet = page.getByRole('dialog');
  await expect(sheet.locator('.where')).toContainText('Deadlines');
  await expect(sheet.locator('mark')).toContainText('within 14 days');
  await page.keyboard.press('Escape');

  await page.reload();
  await expect(chooser.locator('option:checked')).toHaveText('Document assistant');
  await expect(turn.locator('.confidence')).toHaveText(/supported$/);
  await page.getByRole('navigation', { name: 'Conversations' }).getByRole('link', { name: 'New conversation' }).click();
  await expect(chooser.locator('option:checked')).toHaveText('Automatic');
});

// Requirements: INT-01, INT-02 (the four types), UI-21, UI-22 (text_input goes to resume)
test('an audit asks for its text, also after a reload, and holds it against the document', async ({ page }) => {
  await arrive(page);
  await say(page, 'Audit against the travel policy');
  const slip = slipOf(page);
  await expect(slip).toContainText("Please enter the text you'd like to audit");
  await expect(slip.getByRole('button')).toHaveText(['Skip this question']);
  await expect(box(page)).toBeFocused();
  await expect(box(page)).toHaveAttribute('aria-placeholder', 'Write your answer');

  await page.reload();
  await expect(slip).toContainText("Please enter the text you'd like to audit");
  await say(page, letter);
  await expect(slip).toBeHidden();
  const turn = await answered(page);
  await expect(turn.locator('.prose')).toContainText('120 euros a night');
  await expect(turn.locator('.prose button.cite').first()).toBeVisible();

  // The letter is in the record, folded to its beginning.
  const given = turn.locator('.asked details.given');
  await expect(given.locator('p')).toBeHidden();
  await given.locator('summary').click();
  await expect(given.locator('p')).toContainText('within 20 days of the end of the journey.');
  await expect(page.locator('.said')).toHaveCount(1);
});

// Requirements: INT-13
test('what is not clear is asked, one question after the other', async ({ page }) => {
  await arrive(page);
  const slip = slipOf(page);
  await say(page, 'Summarize and audit the policy');
  await expect(slip).toContainText('I can only perform one action at a time.');
  await slip.getByRole('button', { name: 'Audit' }).click();
  await expect(slip).toContainText('Which document');
  await slip.getByRole('button', { name: 'Travel policy' }).click();
  await expect(slip).toContainText("Please enter the text you'd like to audit");
  await say(page, letter);
  const turn = await answered(page);
  await expect(turn.locator('.asked')).toHaveCount(3);
  await expect(turn.locator('.asked').nth(1)).toContainText('You chose: Travel policy');
  await expect(turn.locator('.steps .dots i')).toHaveCount(5); // a question starts no stage anew
  await expect(turn.locator('.prose')).toContainText('120 euros a night');
});

// Requirements: INT-10
test('a question of the assistant is left, and the box is free again', async ({ page }) => {
  await arrive(page);
  await say(page, 'Audit against the travel policy');
  await slipOf(page).getByRole('button', { name: 'Skip this question' }).click();
  const turn = await answered(page);
  await expect(turn.locator('.asked')).toContainText('You skipped it.');
  await expect(turn.locator('.prose')).toHaveCount(0);
  await say(page, 'How many euros a night are hotel costs reimbursed in the travel policy?');
  await expect((await answered(page)).locator('.prose')).toContainText('120 euros a night');
});

test('where little is found, three ways are offered', async ({ page }) => {
  await arrive(page);
  await say(page, 'What is the melting temperature of tungsten carbide?');
  const slip = slipOf(page);
  await expect(slip.locator('.options button:not(.quiet) > span')).toHaveText(['Tag specific documents', 'Search the web', 'Continue anyway']);
  await slip.getByRole('button', { name: 'Tag specific documents' }).click();
  await expect(slip).toContainText("Please tag the document you'd like to reference.");
  await say(page, 'Travel policy');
  const turn = await answered(page);
  await expect(turn.locator('.asked')).toHaveCount(2);
  await expect(turn.locator('.asked').first()).toContainText('You chose: Tag specific documents');
  await expect(turn.locator('.prose')).toBeVisible();
  await page.reload();
  await expect(turn.locator('.asked').first()).toContainText('You chose: Tag specific documents');
});

// Requirements: UI-05
test('a table cites its passages and scrolls by itself on a phone', async ({ page }) => {
  await arrive(page);
  await workflow(page, 'table', [
    { id: 'found', type: 'tool_call', tool: 'rag.search_v1', inputs: { message: 'Hotel costs and equipment costs are reimbursed up to' }, outputs: ['passages'], next: 'quoted' },
    {
      id: 'quoted',
      type: 'tool_call',
      tool: 'llm.compose_v1',
      inputs: { instructions: 'Quote.', message: 'Up to how many euros are costs reimbursed?', passages: '${vars.passages}' },
      outputs: ['citations'],
      next: 'done',
    },
    {
      id: 'done',
      type: 'end',
      response:
        '| Topic | Travel policy | Remote work policy | What differs |\n|---|---|---|---|\n| Limits | Hotel costs are reimbursed up to 120 euros a night [1]. | Equipment costs are reimbursed up to 300 euros a year [1]. | The amount, what it is for, and the time it counts for. |\n| Approval | By the manager, in writing. | By the manager, in writing. | Nothing. |',
      citations: '${vars.citations}',
    },
  ]);
  await say(page, 'Up to how many euros are costs reimbursed?');
  const turn = await answered(page);
  const chips = turn.locator('td button.cite');
  await expect(chips).toHaveCount(2);
  await chips.first().click();
  await expect(page.locator('mark')).toContainText('reimbursed up to');
  await page.keyboard.press('Escape');

  await page.setViewportSize({ width: 390, height: 800 });
  const widths = await turn.locator('.table-scroll').evaluate((region) => [region.scrollWidth, region.clientWidth, document.documentElement.scrollWidth]);
  expect(widths[0]!).toBeGreaterThan(widths[1]!);
  expect(widths[2]!).toBeLessThanOrEqual(390);
  await accessible(page, 'a table on a phone');
});

// Requirements: SAFE-03
test('what was taken out of an answer is marked as such', async ({ page }) => {
  const key = ['sk', 'proj', '9fK2mQ7xLw3RtY8uVb5NcZ1aHd6JgPeS'].join('-');
  await enter(page);
  await upload(page, 'notes.md', `# Notes\n\nThe travel service answers with the key ${key} and nothing else.\n`);
  await expect(page.getByText(/^Ready/)).toBeVisible();
  await say(page, 'Which key does the travel service answer with?');
  const turn = await answered(page);
  await expect(turn.locator('.prose .removed').first()).toContainText('removed: API key');
  await expect(turn).not.toContainText(key);
  await page.reload();
  await expect(turn.locator('.prose .removed').first()).toContainText('removed: API key');
});
