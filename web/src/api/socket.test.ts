import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { NotOpened } from './connection.ts';
import type { Failure } from './failure.ts';
import { ChatSocket, OutcomeUnknown } from './socket.ts';
import { FakeWebSocket, fakeWebSockets, nth, readingFixture as reading, soon } from './socketFixture.ts';
import type { ReadResult } from './transport.ts';

/** A socket for somebody whose token is t1, and no new one is to be had. */
function fresh(): ChatSocket {
  fakeWebSockets();
  return new ChatSocket({ token: () => 't1', renew: async () => false });
}

const token = (run: string, id: number) => ({ event: 'token', data: 'x', run_id: run, id, attempt: 1, request_id: 'q' });
const done = (run: string, id: number) => ({ event: 'message_done', data: {}, run_id: run, id, attempt: 1, request_id: 'q' });

beforeEach(() => vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe('the socket', () => {
  // Requirements: UI-04, UI-35, STREAM-06
  it('signs in and speaks with its first frame, and gives the run its events', async () => {
    const socket = fresh();
    const said = socket.submit({ message: 'hello', stream: true }, 'k1');
    nth(0).opens();
    expect(nth(0).sent).toEqual([{ type: 'auth', session: 't1', message: 'hello', stream: true, request_id: 'k1', client_request_id: 'k1' }]);
    nth(0).tells({ type: 'auth_ok' });
    nth(0).tells({ type: 'chat_started', request_id: 'k1', data: { run_id: 'r1' } });
    nth(0).tells(token('r1', 1)); // before anybody reads
    expect(await said).toEqual({ run_id: 'r1' });
    const { seen, reading: read } = reading();
    const reached = socket.read('r1', read);
    await soon();
    nth(0).tells(token('r1', 2));
    nth(0).tells({ event: 'ping', data: {} });
    nth(0).hears('nonsense');
    nth(0).tells(done('r1', 3));
    expect(await reached).toBe('end');
    expect(seen).toEqual([1, 2, 3]);
    expect(nth(0).sent).toHaveLength(1); // who said it follows it already
  });

  // Requirements: UI-04
  it('is one for all runs, and each gets its own events', async () => {
    const socket = fresh();
    const one = reading();
    const two = reading({ after: 7 });
    const first = socket.read('r1', one.reading);
    const second = socket.read('r2', two.reading);
    nth(0).opens().tells({ type: 'auth_ok' });
    await soon();
    expect(FakeWebSocket.all).toHaveLength(1);
    expect(nth(0).sent.slice(1)).toMatchObject([
      { type: 'follow', run_id: 'r1', after: 0 },
      { type: 'follow', run_id: 'r2', after: 7 },
    ]);
    nth(0).tells(token('r2', 8));
    nth(0).tells(done('r1', 4));
    nth(0).tells(done('r2', 9));
    expect(await Promise.all([first, second])).toEqual(['end', 'end']);
    expect([one.seen, two.seen]).toEqual([[4], [8, 9]]);
  });

  it('is not asked for a run whose reader has left before it was open', async () => {
    const socket = fresh();
    const { leave, reading: read } = reading();
    const reached = socket.read('r1', read);
    leave.abort();
    nth(0).opens().tells({ type: 'auth_ok' });
    expect(await reached).toBe('lost');
    expect(nth(0).sent.map((frame) => frame['type'])).toEqual(['auth']);
  });

  it('tells who had lost a run that it is followed again', async () => {
    const socket = fresh();
    const onHeard = vi.fn();
    void socket.read('r1', reading({ after: 3, onHeard }).reading);
    nth(0).opens().tells({ type: 'auth_ok' });
    await soon();
    expect(nth(0).sent.slice(1)).toMatchObject([{ type: 'follow', after: 3 }, { type: 'ping' }]);
    expect(onHeard).not.toHaveBeenCalled();
    nth(0).tells({ event: 'pong', data: {} });
    expect(onHeard).toHaveBeenCalledOnce();
  });

  it('lets go of no run that somebody reads, when a reply to what began it comes late or again', async () => {
    const socket = fresh();
    const { seen, reading: read } = reading();
    void socket.read('r1', read);
    nth(0).opens().tells({ type: 'auth_ok' });
    await soon();
    nth(0).tells({ type: 'chat_started', request_id: 'late', data: { run_id: 'r1' } });
    const again = socket.submit({ message: 'hello' }, 'k1');
    await soon();
    nth(0).tells({ type: 'chat_started', request_id: 'k1', data: { run_id: 'r1' } });
    expect(await again).toEqual({ run_id: 'r1' });
    await vi.advanceTimersByTimeAsync(11_000);
    nth(0).tells(token('r1', 1));
    expect(seen).toEqual([1]);
    expect(nth(0).sent.map((frame) => frame['type'])).not.toContain('unfollow');
  });

  it('tells a refusal of what was asked from a run that failed', async () => {
    const socket = fresh();
    const foreign = socket.read('r1', reading().reading).catch((error: Failure) => error.status);
    nth(0).opens().tells({ type: 'auth_ok' });
    await soon();
    nth(0).tells({ event: 'error', run_id: 'r1', request_id: 'q', data: { code: 'not_found', message: 'There is no such run.' } });
    expect(await foreign).toBe(404);
    const failed = reading();
    const reached = socket.read('r2', failed.reading);
    await soon();
    nth(0).tells({ event: 'error', run_id: 'r2', request_id: 'q', attempt: 1, data: { code: 'server_error', message: 'It failed.' } });
    expect(await reached).toBe('end');
    expect(failed.seen).toEqual([0]);
    const said = socket.submit({ message: '' }, 'k2').catch((error: Failure) => [error.status, error.message, error.retryAfter]);
    await soon();
    nth(0).tells({ event: 'error', request_id: 'k2', data: { code: 'rate_limited', message: 'Slowly.', details: { retry_after: 7 } } });
    expect(await said).toEqual([429, 'Slowly.', 7]);
  });

  // Requirements: UI-04
  it('leaves the rest to HTTP where it cannot be opened, and is tried again later', async () => {
    const socket = fresh();
    expect(socket.usable).toBe(true);
    const refused = socket.read('r1', reading().reading);
    nth(0).ends(1006);
    await expect(refused).rejects.toBeInstanceOf(NotOpened);
    expect(socket.usable).toBe(false);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(socket.usable).toBe(true);
    // Something between swallows the upgrade: nobody waits for it for ever.
    const swallowed = socket.read('r1', reading().reading);
    swallowed.catch(() => undefined);
    await vi.advanceTimersByTimeAsync(5_000);
    await expect(swallowed).rejects.toBeInstanceOf(NotOpened);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(socket.usable).toBe(false); // longer each time
  });

  // Requirements: UI-25
  it('asks whether it lives, and is given up after thirty silent seconds', async () => {
    const socket = fresh();
    let reached: ReadResult | undefined;
    void socket.read('r1', reading().reading).then((how) => (reached = how));
    nth(0).opens().tells({ type: 'auth_ok' });
    await vi.advanceTimersByTimeAsync(20_000);
    expect(nth(0).sent.at(-1)).toEqual({ type: 'ping' });
    nth(0).tells({ event: 'pong', data: {} });
    await vi.advanceTimersByTimeAsync(29_000);
    expect(reached).toBeUndefined();
    await vi.advanceTimersByTimeAsync(2_000);
    expect(reached).toBe('silent');
  });

  it('says that nobody knows when the connection breaks before the reply', async () => {
    const socket = fresh();
    const said = socket.submit({ message: 'hello' }, 'k1');
    nth(0).opens().tells({ type: 'auth_ok' });
    await soon();
    nth(0).ends(1006);
    await expect(said).rejects.toBeInstanceOf(OutcomeUnknown);
  });

  it('lets go of a run that nobody reads any more, and does not read it again on this connection', async () => {
    const socket = fresh();
    const { leave, seen, reading: read } = reading();
    const reached = socket.read('r1', read);
    nth(0).opens().tells({ type: 'auth_ok' });
    await soon();
    leave.abort();
    await reached;
    nth(0).tells(token('r1', 1));
    expect(seen).toEqual([]);
    expect(nth(0).sent.at(-1)).toEqual({ type: 'unfollow', run_id: 'r1' });
    expect([socket.canRead('r1'), socket.canRead('r2')]).toEqual([false, true]);
  });
});
