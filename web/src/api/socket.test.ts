import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ReadResult, Reading } from './transport.ts';
import type { Failure } from './failure.ts';

type Sent = Record<string, unknown>;

/** A socket whose other end is the test. */
class Fake extends EventTarget {
  static readonly OPEN = 1;
  static all: Fake[] = [];
  readyState = 0;
  sent: Sent[] = [];

  constructor(readonly url: string) {
    super();
    Fake.all.push(this);
  }

  send(text: string): void {
    this.sent.push(JSON.parse(text) as Sent);
  }

  close(): void {
    this.readyState = 3;
  }

  opens(): this {
    this.readyState = 1;
    this.dispatchEvent(new Event('open'));
    return this;
  }

  tells(frame: Sent): void {
    this.hears(JSON.stringify(frame));
  }

  hears(data: string): void {
    this.dispatchEvent(new MessageEvent('message', { data }));
  }

  ends(code: number): void {
    this.readyState = 3;
    this.dispatchEvent(Object.assign(new Event('close'), { code, wasClean: code !== 1006 }));
  }
}

const soon = () => vi.advanceTimersByTimeAsync(0);
const nth = (n: number) => Fake.all[n]!;

/** The modules anew, for somebody whose token is t1. */
async function fresh() {
  vi.resetModules();
  Fake.all = [];
  sessionStorage.setItem('liminal.token', 't1');
  vi.stubGlobal('WebSocket', Fake);
  const socket = await import('./socket.ts');
  const session = await import('./session.ts');
  return { ...socket, session };
}

function reading(more: Partial<Reading> = {}) {
  const seen: number[] = [];
  const leave = new AbortController();
  return { seen, leave, reading: { after: 0, signal: leave.signal, onEvent: (event: { seq: number }) => seen.push(event.seq), ...more } };
}

const token = (run: string, id: number) => ({ event: 'token', data: 'x', run_id: run, id, attempt: 1, request_id: 'q' });
const done = (run: string, id: number) => ({ event: 'message_done', data: {}, run_id: run, id, attempt: 1, request_id: 'q' });

beforeEach(() => vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  sessionStorage.clear();
});

describe('the socket', () => {
  // Requirements: UI-04, UI-35, STREAM-06
  it('signs in and speaks with its first frame, and gives the run its events', async () => {
    const { sayBySocket, readBySocket } = await fresh();
    const said = sayBySocket({ message: 'hello', stream: true }, 'k1');
    nth(0).opens();
    expect(nth(0).sent).toEqual([{ type: 'auth', session: 't1', message: 'hello', stream: true, request_id: 'k1', client_request_id: 'k1' }]);
    nth(0).tells({ type: 'auth_ok' });
    nth(0).tells({ type: 'chat_started', request_id: 'k1', data: { run_id: 'r1' } });
    nth(0).tells(token('r1', 1)); // before anybody reads
    expect(await said).toEqual({ run_id: 'r1' });
    const { seen, reading: read } = reading();
    const reached = readBySocket('r1', read);
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
    const { readBySocket } = await fresh();
    const one = reading();
    const two = reading({ after: 7 });
    const first = readBySocket('r1', one.reading);
    const second = readBySocket('r2', two.reading);
    nth(0).opens().tells({ type: 'auth_ok' });
    await soon();
    expect(Fake.all).toHaveLength(1);
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
    const { readBySocket } = await fresh();
    const { leave, reading: read } = reading();
    const reached = readBySocket('r1', read);
    leave.abort();
    nth(0).opens().tells({ type: 'auth_ok' });
    expect(await reached).toBe('lost');
    expect(nth(0).sent.map((frame) => frame['type'])).toEqual(['auth']);
  });

  it('tells who had lost a run that it is followed again', async () => {
    const { readBySocket } = await fresh();
    const onHeard = vi.fn();
    void readBySocket('r1', reading({ after: 3, onHeard }).reading);
    nth(0).opens().tells({ type: 'auth_ok' });
    await soon();
    expect(nth(0).sent.slice(1)).toMatchObject([{ type: 'follow', after: 3 }, { type: 'ping' }]);
    expect(onHeard).not.toHaveBeenCalled();
    nth(0).tells({ event: 'pong', data: {} });
    expect(onHeard).toHaveBeenCalledOnce();
  });

  it('lets go of no run that somebody reads, when a reply to what began it comes late or again', async () => {
    const { readBySocket, sayBySocket } = await fresh();
    const { seen, reading: read } = reading();
    void readBySocket('r1', read);
    nth(0).opens().tells({ type: 'auth_ok' });
    await soon();
    nth(0).tells({ type: 'chat_started', request_id: 'late', data: { run_id: 'r1' } });
    const again = sayBySocket({ message: 'hello' }, 'k1');
    await soon();
    nth(0).tells({ type: 'chat_started', request_id: 'k1', data: { run_id: 'r1' } });
    expect(await again).toEqual({ run_id: 'r1' });
    await vi.advanceTimersByTimeAsync(11_000);
    nth(0).tells(token('r1', 1));
    expect(seen).toEqual([1]);
    expect(nth(0).sent.map((frame) => frame['type'])).not.toContain('unfollow');
  });

  it('tells a refusal of what was asked from a run that failed', async () => {
    const { readBySocket, sayBySocket } = await fresh();
    const foreign = readBySocket('r1', reading().reading).catch((error: Failure) => error.status);
    nth(0).opens().tells({ type: 'auth_ok' });
    await soon();
    nth(0).tells({ event: 'error', run_id: 'r1', request_id: 'q', data: { code: 'not_found', message: 'There is no such run.' } });
    expect(await foreign).toBe(404);
    const failed = reading();
    const reached = readBySocket('r2', failed.reading);
    await soon();
    nth(0).tells({ event: 'error', run_id: 'r2', request_id: 'q', attempt: 1, data: { code: 'server_error', message: 'It failed.' } });
    expect(await reached).toBe('end');
    expect(failed.seen).toEqual([0]);
    const said = sayBySocket({ message: '' }, 'k2').catch((error: Failure) => [error.status, error.message, error.retryAfter]);
    await soon();
    nth(0).tells({ event: 'error', request_id: 'k2', data: { code: 'rate_limited', message: 'Slowly.', details: { retry_after: 7 } } });
    expect(await said).toEqual([429, 'Slowly.', 7]);
  });

  // Requirements: UI-04
  it('leaves the rest to HTTP where it cannot be opened, and is tried again later', async () => {
    const { readBySocket, socketMay, Unopened } = await fresh();
    expect(socketMay()).toBe(true);
    const refused = readBySocket('r1', reading().reading);
    nth(0).ends(1006);
    await expect(refused).rejects.toBeInstanceOf(Unopened);
    expect(socketMay()).toBe(false);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(socketMay()).toBe(true);
    // Something between swallows the upgrade: nobody waits for it for ever.
    const swallowed = readBySocket('r1', reading().reading);
    swallowed.catch(() => undefined);
    await vi.advanceTimersByTimeAsync(5_000);
    await expect(swallowed).rejects.toBeInstanceOf(Unopened);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(socketMay()).toBe(false); // longer each time
  });

  // Requirements: STREAM-05
  it('closed with 4401, renews the token once and is opened again', async () => {
    const { readBySocket } = await fresh();
    const asked = vi.fn(async (_url: string, _init?: RequestInit) => Response.json({ data: { access_token: 't2', user: { id: 'u' } } }));
    vi.stubGlobal('fetch', asked);
    const reached = readBySocket('r1', reading().reading);
    nth(0).opens().ends(4401);
    await vi.waitFor(() => expect(Fake.all).toHaveLength(2));
    expect(asked.mock.calls.map(([url]) => url)).toEqual(['/v1/auth/refresh']);
    nth(1).opens().tells({ type: 'auth_ok' });
    await soon();
    expect(nth(1).sent).toMatchObject([{ type: 'auth', session: 't2' }, { type: 'follow' }]);
    // Later the session is closed from the other side: the reader opens the next line.
    nth(1).ends(4401);
    expect(await reached).toBe('renew');
  });

  it('signs in again on the open line when the token was renewed elsewhere, and ends with the session', async () => {
    const { readBySocket, session } = await fresh();
    const reached = readBySocket('r1', reading().reading);
    nth(0).opens().tells({ type: 'auth_ok' });
    await soon();
    session.keep({ access_token: 't2', refresh_token: '', session_id: '', session_expires_at: '', user: { id: 'u' } } as never);
    expect(nth(0).sent.at(-1)).toEqual({ type: 'auth', session: 't2' });
    session.forget();
    expect(await reached).toBe('renew');
    expect(nth(0).readyState).toBe(3);
  });

  // Requirements: UI-17
  it('that is still being opened when the person leaves is of no use to the next one', async () => {
    const { readBySocket, sayBySocket, session, Unopened } = await fresh();
    const of = (id: string) => ({ access_token: id, refresh_token: '', session_id: '', session_expires_at: '', user: { id } }) as never;
    session.keep(of('ann'));
    const hers = readBySocket('r1', reading().reading).catch((error: unknown) => error);
    session.forget();
    session.keep(of('bob'));
    const said = sayBySocket({ message: 'of bob' }, 'k1');
    nth(0).opens().tells({ type: 'auth_ok' });
    nth(1).opens().tells({ type: 'auth_ok' });
    nth(1).tells({ type: 'chat_started', request_id: 'k1', data: { run_id: 'r2' } });
    expect(await said).toEqual({ run_id: 'r2' });
    expect(await hers).toBeInstanceOf(Unopened);
    expect([nth(0).sent, nth(0).readyState]).toEqual([[], 3]);
    expect(nth(1).sent[0]).toMatchObject({ type: 'auth', session: 'bob', message: 'of bob' });
  });

  // Requirements: UI-25
  it('asks whether it lives, and is given up after thirty silent seconds', async () => {
    const { readBySocket } = await fresh();
    let reached: ReadResult | undefined;
    void readBySocket('r1', reading().reading).then((how) => (reached = how));
    nth(0).opens().tells({ type: 'auth_ok' });
    await vi.advanceTimersByTimeAsync(20_000);
    expect(nth(0).sent.at(-1)).toEqual({ type: 'ping' });
    nth(0).tells({ event: 'pong', data: {} });
    await vi.advanceTimersByTimeAsync(29_000);
    expect(reached).toBeUndefined();
    await vi.advanceTimersByTimeAsync(2_000);
    expect(reached).toBe('silent');
  });

  it('in doubt, asks at once: after the network came or went', async () => {
    const { readBySocket } = await fresh();
    let reached: ReadResult | undefined;
    void readBySocket('r1', reading().reading).then((how) => (reached = how));
    nth(0).opens().tells({ type: 'auth_ok' });
    await soon();
    window.dispatchEvent(new Event('offline'));
    expect(nth(0).sent.at(-1)).toEqual({ type: 'ping' });
    await vi.advanceTimersByTimeAsync(5_100);
    expect(reached).toBe('silent');
  });

  it('says that nobody knows when the line breaks before the reply', async () => {
    const { sayBySocket, Unknown } = await fresh();
    const said = sayBySocket({ message: 'hello' }, 'k1');
    nth(0).opens().tells({ type: 'auth_ok' });
    await soon();
    nth(0).ends(1006);
    await expect(said).rejects.toBeInstanceOf(Unknown);
  });

  it('lets go of a run that nobody reads any more, and does not read it again on this line', async () => {
    const { readBySocket, socketMayRead } = await fresh();
    const { leave, seen, reading: read } = reading();
    const reached = readBySocket('r1', read);
    nth(0).opens().tells({ type: 'auth_ok' });
    await soon();
    leave.abort();
    await reached;
    nth(0).tells(token('r1', 1));
    expect(seen).toEqual([]);
    expect(nth(0).sent.at(-1)).toEqual({ type: 'unfollow', run_id: 'r1' });
    expect([socketMayRead('r1'), socketMayRead('r2')]).toEqual([false, true]);
  });
});
