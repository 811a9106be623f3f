// The program is killed (SIGKILL) and started again under the page. Only
// TestBrowser can do that: it does so whenever the file "kill" appears in the
// folder CONTROL names, and takes the file away when the program is back.
//
// Also on the lane: other processes die, and come back to another database.

import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { answered, box, enter, expect, goOn, holdBack, passing, say, test, which, workflow } from './stage.ts';

const control = process.env['CONTROL'] ?? '';

test.skip(control === '', 'needs TestBrowser, which kills the program');

function kill(): void {
  writeFileSync(join(control, 'kill'), '');
}

async function isBack(): Promise<void> {
  await expect.poll(() => existsSync(join(control, 'kill')), { timeout: 120_000 }).toBe(false);
}

// Requirements: STREAM-29, STREAM-32
test('killed while it answers, the program comes back and the page reads on by itself', async ({ page, watch }) => {
  watch.expected.push(/Failed to load resource|ERR_CONNECTION|ERR_INCOMPLETE/);
  await enter(page);
  holdBack();
  await say(page, 'Tell me bit by bit');
  const prose = page.locator('.prose');
  await expect(prose).toContainText('Sentence 5');
  const lost = passing(page, 'Connection lost. What was written stays; reconnecting…');
  kill();
  await lost;
  await expect(prose).toContainText('Sentence 5');
  goOn();
  await isBack();
  await expect(page.locator('.turn-foot')).toBeVisible({ timeout: 120_000 });
  const text = await prose.innerText();
  for (let n = 1; n <= 30; n++) expect(text.split(`Sentence ${n} of`)).toHaveLength(2);
  await page.reload();
  await expect(prose).toHaveText(text);
  await expect(page.locator('.turn')).toHaveCount(1);
});

const find = { id: 'find', type: 'tool_call', tool: 'rag.search_v1', inputs: { question: '${input.message}' }, next: 'which' };

// Requirements: INT-16
test('killed while it waits, the program still knows the question and takes the answer', async ({ page, watch }) => {
  watch.expected.push(/Failed to load resource|ERR_CONNECTION|ERR_INCOMPLETE/);
  await enter(page);
  await workflow(page, 'ambiguous', [find, { ...which, next: 'done' }, { id: 'done', type: 'end', response: 'You said ${vars.choice?}.' }]);
  await say(page, 'Check this letter');
  const slip = page.getByRole('region', { name: 'Needs your answer' });
  await expect(slip).toBeVisible();
  kill();
  await isBack();
  await expect(slip).toBeVisible();
  await page.reload();
  // The log went with the program; what led to the question did not.
  await expect(page.locator('.steps li code')).toHaveText(['find', 'which']);
  await slip.getByRole('button', { name: 'Deriv2024' }).click();
  const turn = await answered(page);
  await expect(turn.locator('.prose')).toContainText('You said d2.');
  await expect(box(page)).toBeEnabled();
});
