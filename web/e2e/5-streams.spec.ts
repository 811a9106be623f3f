// Also on the lane: Redis carries what the worker writes to the server.
import type { Page } from '@playwright/test';
import { answered, atRest, box, enter, expect, goOn, holdBack, holds, noSockets, say, test, workflow } from './stage.ts';

// These need a model that takes its time: TestBrowser's script (scripts_test.go).

// Requirements: STREAM-08
test('stopping keeps what was written', async ({ page }) => {
  await enter(page);
  holdBack();
  await say(page, 'Tell me bit by bit');
  const prose = page.locator('.turn').last().locator('.prose');
  await expect(prose).toContainText('Sentence 2');
  await page.getByRole('button', { name: 'Stop' }).click();
  await expect(page.locator('.note-line', { hasText: 'Stopped. What was written is kept.' })).toBeVisible();
  const kept = await prose.innerText();
  expect(kept).toContain('Sentence 2');
  expect(kept).not.toContain('Sentence 30');
  await expect(box(page)).toBeEnabled();
  await page.reload();
  await expect(page.locator('.prose')).toContainText('Sentence 2');
});

// Requirements: STREAM-29
test('a run outlives its reader: a reload in the middle reads on', async ({ page }) => {
  await enter(page);
  holdBack();
  await say(page, 'Tell me bit by bit');
  await expect(page.locator('.prose')).toContainText('Sentence 2');
  await page.reload();
  await expect(page.getByRole('button', { name: 'Stop' })).toBeVisible();
  goOn();
  const turn = await answered(page);
  const text = await turn.locator('.prose').innerText();
  for (let n = 1; n <= 30; n++) expect(text.split(`Sentence ${n} of`)).toHaveLength(2);
});

// Requirements: UI-30 (a new message is brought into view)
test('scrolling is the reader’s: growth never fights it', async ({ page }) => {
  await page.setViewportSize({ width: 900, height: 420 });
  await enter(page);
  await say(page, 'Tell me slowly');
  const view = page.getByRole('log');
  const top = () => view.evaluate((it) => it.scrollTop);
  const left = () => view.evaluate((it) => it.scrollHeight - it.scrollTop - it.clientHeight);
  const latest = page.getByRole('button', { name: 'Latest' });

  // An answer is read from its beginning: the question comes to the top and stays.
  await expect(latest).toBeVisible();
  await expect(page.locator('.said')).toBeInViewport();
  // Who wants the end gets it, and is taken along.
  await latest.click();
  await expect(page.locator('.prose')).toContainText('Sentence 16');
  await expect.poll(left).toBeLessThan(40);
  await expect(latest).toBeHidden();
  // Who moves away stays there.
  await view.hover();
  await page.mouse.wheel(0, -120);
  await expect(latest).toBeVisible();
  const before = await atRest(top);
  await expect(page.locator('.prose')).toContainText('Sentence 24');
  expect(await top()).toBe(before);
});

// Requirements: UI-30 (status updates move nothing)
test('the stages of an answer move nothing, wherever the reader is', async ({ page }) => {
  await page.setViewportSize({ width: 900, height: 420 });
  await enter(page);
  const stage = (id: string, description: string, next: string, message = 'Tell me briskly') => ({ id, type: 'tool_call', tool: 'llm.generic_chat_v1', description, inputs: { message }, next });
  await workflow(page, 'stages', [
    { id: 'which', type: 'switch', branches: [{ when: "input.message == 'Begin'", next: 'long' }, { when: 'true', next: 'one' }] },
    { id: 'long', type: 'end', response: Array.from({ length: 40 }, (_, n) => `Paragraph ${n}.`).join('\n\n') },
    stage('one', 'Looking it up...', 'two'),
    stage('two', 'Weighing it...', 'three'),
    stage('three', 'Putting it in order...', 'done', 'Tell me without end'), // so that there is something to stop
    { id: 'done', type: 'end', response: 'Done.' },
  ]);
  await say(page, 'Begin');
  await answered(page);
  await say(page, 'Go on');
  const view = page.getByRole('log');
  const top = () => view.evaluate((it) => it.scrollTop);
  const steps = page.locator('.turn').last().locator('.steps');
  await expect(steps).toContainText('Looking it up...');
  await expect(page.locator('.said').last()).toBeInViewport();
  const taken = await atRest(top);
  await expect(steps).toContainText('Weighing it...');
  expect(await top()).toBe(taken);
  await view.hover();
  await page.mouse.wheel(0, -300);
  await expect(page.getByRole('button', { name: 'Latest' })).toBeVisible();
  const read = await atRest(top);
  expect(read).toBeLessThan(taken);
  await expect(steps).toContainText('Putting it in order...');
  expect(await top()).toBe(read);
  await page.getByRole('button', { name: 'Stop' }).click();
});

/** How many readers of streams the server counts, over whatever they read. */
async function readers(page: Page, server: string): Promise<number> {
  const figures = await (await page.request.get(`${server}/metrics`)).text();
  const counts = [...figures.matchAll(/^liminal_stream_followers\{.*\} (\d+)$/gm)];
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
}

for (const over of ['a socket', 'HTTP']) {
  // Requirements: UI-27
  test(`a page that is left leaves no stream behind, and its run goes on: over ${over}`, async ({ page }) => {
    if (over === 'HTTP') await noSockets(page);
    await enter(page);
    const server = new URL(page.url()).origin;
    holdBack();
    await say(page, 'Tell me bit by bit');
    await expect(page.locator('.prose')).toContainText('Sentence 1');
    await expect.poll(() => readers(page, server)).toBe(1);
    const conversation = page.url();
    await page.goto('about:blank');
    await expect.poll(() => readers(page, server)).toBe(0);
    // It was the reader that went, not what was read.
    await page.goto(conversation);
    await expect(page.getByRole('button', { name: 'Stop' })).toBeVisible();
    goOn();
    const turn = await answered(page);
    await expect(turn.locator('.prose')).toContainText('Sentence 30 of');
    await expect.poll(() => readers(page, server)).toBe(0);
  });
}

// Requirements: UI-27
test('while an answer is written, Enter sends nothing', async ({ page }) => {
  await enter(page);
  holdBack();
  await say(page, 'Tell me bit by bit');
  await expect(page.locator('.prose')).toContainText('Sentence 1');
  await say(page, 'impatient');
  await expect(page.locator('.said')).toHaveCount(1);
  await holds(page, 'impatient');
  await expect(page.getByText('The answer is being written. Stop it to send something else.')).toBeVisible();
  goOn();
});
