// Also on the lane: Redis carries what the worker writes to the server.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page, WebSocketRoute } from '@playwright/test';
import { answered, enter, expect, goOn, holdBack, passing, say, test, which, workflow } from './stage.ts';

// These need a model that takes its time: TestBrowser's script (scripts_test.go).

const control = process.env['CONTROL'] ?? '';
const stream = /\/v1\/chat\/stream$/;

/** What goes over the page's sockets, and what over HTTP instead. */
function listen(page: Page) {
  const heard = { sockets: 0, frames: [] as Record<string, unknown>[], asked: [] as string[] };
  page.on('websocket', (socket) => {
    heard.sockets++;
    socket.on('framesent', ({ payload }) => heard.frames.push(JSON.parse(String(payload)) as Record<string, unknown>));
  });
  page.on('request', (request) => {
    if (/\/v1\/chat$|\/events$/.test(request.url())) heard.asked.push(`${request.method()} ${new URL(request.url()).pathname.replace(/[\da-f-]{36}/, 'id')}`);
  });
  return heard;
}

/** Each of the thirty sentences stands there once. */
function isWhole(text: string): void {
  for (let n = 1; n <= 30; n++) expect(text.split(`Sentence ${n} of`), `sentence ${n}`).toHaveLength(2);
}

const prose = (page: Page) => page.locator('.turn').last().locator('.prose');

/** A socket that the test stands between; does(line, nth) says what becomes of each. */
async function between(page: Page, does: (line: { page: WebSocketRoute; server: WebSocketRoute }, nth: number) => void): Promise<void> {
  let nth = 0;
  await page.routeWebSocket(stream, (route) => {
    const line = { page: route, server: route.connectToServer() };
    does(line, ++nth);
  });
}

// Requirements: UI-04, UI-35, STREAM-06
test('a page speaks over one socket, and its first frame signs in and brings the message', async ({ page }) => {
  const heard = listen(page);
  await enter(page);
  await say(page, 'Tell me briskly');
  isWhole(await (await answered(page)).locator('.prose').innerText());
  const [first] = heard.frames;
  expect(first).toMatchObject({ type: 'auth', message: 'Tell me briskly', stream: true });
  expect(first!['request_id']).toBe(first!['client_request_id']);
  await say(page, 'And once more');
  await expect(page.locator('.turn')).toHaveCount(2);
  await expect(prose(page)).toContainText('Sentence 1');
  expect(heard.frames.map((frame) => frame['type']).filter((type) => type !== 'ping')).toEqual(['auth', 'chat_start']);
  expect([heard.sockets, heard.asked]).toEqual([1, []]);
});

// Requirements: UI-04
test('where sockets are refused, everything goes over HTTP', async ({ page }) => {
  const heard = listen(page);
  await page.routeWebSocket(stream, (route) => route.close({ code: 1011 }));
  await enter(page);
  await say(page, 'Tell me briskly');
  isWhole(await (await answered(page)).locator('.prose').innerText());
  expect(heard.asked).toEqual(['POST /v1/chat', 'GET /v1/runs/id/events']);
});

// Requirements: STREAM-24 (missed events are replayed), UI-26
test('a line that drops in the middle loses and doubles nothing', async ({ page }) => {
  const follows: unknown[] = [];
  await between(page, (line, nth) => {
    let events = 0;
    line.page.onMessage((message) => {
      const frame = JSON.parse(String(message)) as Record<string, unknown>;
      if (frame['type'] === 'follow') follows.push(frame['after']);
      line.server.send(message);
    });
    line.server.onMessage((message) => {
      line.page.send(message);
      if (nth < 3 && ++events === 15) void line.page.close({ code: 1011 }).then(() => line.server.close());
    });
  });
  await enter(page);
  await say(page, 'Tell me briskly');
  const text = await (await answered(page)).locator('.prose').innerText();
  isWhole(text);
  expect(follows).toHaveLength(2);
  expect(Number(follows[1])).toBeGreaterThan(Number(follows[0]));
  expect(Number(follows[0])).toBeGreaterThan(0);
  await page.reload();
  await expect(prose(page)).toHaveText(text);
});

// Requirements: UI-04, STREAM-24 (missed events are replayed)
test('where the socket does not come back, HTTP reads on', async ({ page }) => {
  const heard = listen(page);
  await between(page, (line, nth) => {
    if (nth > 1) return void line.page.close({ code: 1011 });
    let events = 0;
    line.server.onMessage((message) => {
      line.page.send(message);
      if (++events === 15) void line.page.close({ code: 1011 }).then(() => line.server.close());
    });
  });
  await enter(page);
  await say(page, 'Tell me briskly');
  isWhole(await (await answered(page)).locator('.prose').innerText());
  expect(heard.asked).toEqual(['GET /v1/runs/id/events']);
});

// Requirements: API-05
test('a line that breaks before the reply says nothing twice', async ({ page }) => {
  const heard = listen(page);
  await between(page, (line, nth) => {
    line.server.onMessage((message) => {
      const frame = JSON.parse(String(message)) as { type?: string };
      if (nth > 1 || frame.type === 'auth_ok') line.page.send(message);
      else if (frame.type === 'chat_started') void line.page.close({ code: 1011 });
    });
  });
  await enter(page);
  await say(page, 'Tell me briskly');
  isWhole(await (await answered(page)).locator('.prose').innerText());
  expect(heard.asked[0]).toBe('POST /v1/chat');
  await page.reload();
  await expect(page.locator('.turn')).toHaveCount(1);
  isWhole(await prose(page).innerText());
  await expect(page.getByRole('navigation', { name: 'Conversations' }).locator('.row')).toHaveCount(1);
});

// Requirements: UI-25
test('a silent line is said to have timed out, and the run is read on', async ({ page }) => {
  let again: () => void = () => undefined;
  const released = new Promise<void>((resolve) => (again = resolve));
  await between(page, (line, nth) => {
    let events = 0;
    line.page.onMessage(async (message) => {
      if (nth > 1) await released;
      line.server.send(message);
    });
    line.server.onMessage((message) => {
      if (nth > 1 || ++events < 20) line.page.send(message);
    });
  });
  await page.clock.install();
  await enter(page);
  await say(page, 'Tell me briskly');
  await expect(prose(page)).toContainText('Sentence 1');
  await page.clock.runFor(31_000);
  await expect(page.getByText('Connection timed out. What was written stays; reconnecting…')).toBeVisible();
  await expect(prose(page)).toContainText('Sentence 1');
  again();
  isWhole(await (await answered(page)).locator('.prose').innerText());
  await expect(page.getByText('Connection timed out.')).toBeHidden();
});

// Requirements: STREAM-29, STREAM-32
test('killed in the middle, the program comes back and the page reads on', async ({ page, watch }) => {
  test.skip(control === '', 'needs TestBrowser, which kills the program');
  watch.expected.push(/Failed to load resource|ERR_CONNECTION|ERR_INCOMPLETE/);
  const heard = listen(page);
  await enter(page);
  holdBack();
  await say(page, 'Tell me bit by bit');
  await expect(prose(page)).toContainText('Sentence 4');
  const lost = passing(page, 'Connection lost. What was written stays; reconnecting…');
  writeFileSync(join(control, 'kill'), '');
  await lost;
  goOn();
  await expect.poll(() => existsSync(join(control, 'kill')), { timeout: 120_000 }).toBe(false);
  await expect(page.locator('.turn-foot')).toBeVisible({ timeout: 120_000 });
  isWhole(await prose(page).innerText());
  expect(heard.asked).not.toContain('POST /v1/chat');
});

// Requirements: STREAM-08, STREAM-29
test('two tabs see the same run, and either stops it', async ({ page, context }) => {
  await enter(page);
  await say(page, 'Tell me without end');
  await expect(prose(page)).toContainText('Sentence 1');
  const other = await context.newPage();
  await other.goto(page.url());
  for (const tab of [page, other]) await expect(prose(tab)).toContainText('Sentence 30');
  await other.getByRole('button', { name: 'Stop' }).press('Enter');
  for (const tab of [page, other]) {
    await expect(tab.locator('.note-line', { hasText: 'Stopped. What was written is kept.' })).toBeVisible();
    isWhole((await prose(tab).textContent()) ?? '');
    await expect(tab.getByRole('button', { name: 'Stop' })).toBeHidden();
  }
});

// Requirements: INT-16
test('a question that waits elsewhere is said on the tab and by the system, and a click leads to it', async ({ page }) => {
  await page.addInitScript(() => {
    localStorage.setItem('liminal.notify', '1');
    const told: (EventTarget & { title: string; body: string })[] = [];
    class Told extends EventTarget {
      static permission = 'granted';
      constructor(
        readonly title: string,
        options: NotificationOptions,
      ) {
        super();
        told.push(Object.assign(this, { body: options.body ?? '' }));
      }
      close(): void {}
    }
    Object.assign(window, { Notification: Told, told });
  });
  const told = () => page.evaluate(() => (window as unknown as { told: { title: string; body: string }[] }).told.map(({ title, body }) => `${title}: ${body}`));
  const sign = page.locator('link[rel=icon]');
  await enter(page);
  await workflow(page, 'late', [
    { id: 'think', type: 'tool_call', tool: 'llm.generic_chat_v1', inputs: { message: '${input.message}' }, next: 'which' },
    { ...which, next: 'done' },
    { id: 'done', type: 'end', response: 'You said ${vars.choice?}.' },
  ]);
  holdBack();
  await say(page, 'Check this letter bit by bit');
  await expect(page).toHaveURL(/\/c\//);
  const there = page.url();
  await page.getByRole('link', { name: 'New conversation' }).click();
  goOn();
  await expect(page).toHaveTitle(/^\(1\) /, { timeout: 90_000 });
  await expect(sign).toHaveAttribute('href', /^data:image\/svg/);
  await expect.poll(told).toEqual(['Check this letter bit by bit: Waiting for your answer']);
  await page.evaluate(() => (window as unknown as { told: EventTarget[] }).told[0]!.dispatchEvent(new Event('click')));
  await expect(page).toHaveURL(there);
  await page.getByRole('region', { name: 'Needs your answer' }).getByRole('button', { name: 'Deriv2024' }).click();
  await expect(prose(page)).toContainText('You said d2.');
  await expect(page).not.toHaveTitle(/^\(1\)/);
  await expect(sign).toHaveAttribute('href', '/favicon.svg');
  expect(await told()).toHaveLength(1); // what the reader sees is not said again
});
