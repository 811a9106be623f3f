import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { NotOpened } from './connection.ts';
import { userFixture } from './fixtures.ts';
import { attach, pageSocket } from './pageSocket.ts';
import { clearSession, session, setSession } from './session.ts';
import { ChatSocket } from './socket.ts';
import { FakeWebSocket, fakeWebSockets, nth, readingFixture as reading, soon } from './socketFixture.ts';
import type { ReadResult } from './transport.ts';

const as = (user: string, token = user) => ({ user: userFixture(user), access_token: token, refresh_token: '', session_id: '', session_expires_at: '' });

beforeEach(() => {
  vi.useFakeTimers();
  fakeWebSockets();
  // As on load: there is a token, t1, and nobody has said yet whose it is.
  setSession(as('u', 't1'));
  session.set({ state: 'unknown', user: null });
});
afterEach(() => {
  clearSession();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe('the socket of this page', () => {
  // Requirements: STREAM-05
  it('closed with 4401, renews the token once and is opened again', async () => {
    const asked = vi.fn(async (_url: string, _init?: RequestInit) => Response.json({ data: { access_token: 't2', user: { id: 'u' } } }));
    vi.stubGlobal('fetch', asked);
    const reached = pageSocket.read('r1', reading().reading);
    nth(0).opens().ends(4401);
    await vi.waitFor(() => expect(FakeWebSocket.all).toHaveLength(2), 20_000);
    expect(asked.mock.calls.map(([url]) => url)).toEqual(['/v1/auth/refresh']);
    nth(1).opens().tells({ type: 'auth_ok' });
    await soon();
    expect(nth(1).sent).toMatchObject([{ type: 'auth', session: 't2' }, { type: 'follow' }]);
    // Later the session is closed from the other side: the reader opens the next connection.
    nth(1).ends(4401);
    expect(await reached).toBe('renew');
  });

  it('signs in again on the open connection when the token was renewed elsewhere, and ends with the session', async () => {
    const reached = pageSocket.read('r1', reading().reading);
    nth(0).opens().tells({ type: 'auth_ok' });
    await soon();
    setSession(as('u', 't2'));
    expect(nth(0).sent.at(-1)).toEqual({ type: 'auth', session: 't2' });
    clearSession();
    expect(await reached).toBe('renew');
    expect(nth(0).readyState).toBe(3);
  });

  // Requirements: UI-17
  it('ends when another page has signed somebody else in', async () => {
    setSession(as('ann'));
    const reached = pageSocket.read('r1', reading().reading);
    nth(0).opens().tells({ type: 'auth_ok' });
    await soon();
    setSession(as('bob'));
    expect(await reached).toBe('renew');
    expect(nth(0).readyState).toBe(3);
    expect(nth(0).sent).not.toContainEqual({ type: 'auth', session: 'bob' });
  });

  // Requirements: UI-17
  it('that is still being opened when the person leaves is of no use to the next one', async () => {
    setSession(as('ann'));
    const hers = pageSocket.read('r1', reading().reading).catch((error: unknown) => error);
    clearSession();
    setSession(as('bob'));
    const said = pageSocket.submit({ message: 'of bob' }, 'k1');
    nth(0).opens().tells({ type: 'auth_ok' });
    nth(1).opens().tells({ type: 'auth_ok' });
    nth(1).tells({ type: 'chat_started', request_id: 'k1', data: { run_id: 'r2' } });
    expect(await said).toEqual({ run_id: 'r2' });
    expect(await hers).toBeInstanceOf(NotOpened);
    expect([nth(0).sent, nth(0).readyState]).toEqual([[], 3]);
    expect(nth(1).sent[0]).toMatchObject({ type: 'auth', session: 'bob', message: 'of bob' });
  });

  it('in doubt, asks at once: after the network came or went', async () => {
    let reached: ReadResult | undefined;
    void pageSocket.read('r1', reading().reading).then((how) => (reached = how));
    nth(0).opens().tells({ type: 'auth_ok' });
    await soon();
    window.dispatchEvent(new Event('offline'));
    expect(nth(0).sent.at(-1)).toEqual({ type: 'ping' });
    await vi.advanceTimersByTimeAsync(5_100);
    expect(reached).toBe('silent');
  });

  it('is tried again at once when the network is back', async () => {
    const refused = pageSocket.read('r1', reading().reading);
    nth(0).ends(1006);
    await expect(refused).rejects.toBeInstanceOf(NotOpened);
    expect(pageSocket.usable).toBe(false);
    window.dispatchEvent(new Event('online'));
    expect(pageSocket.usable).toBe(true);
  });
});

it('a socket that is let go of is closed, and follows neither the session nor the network any more', async () => {
  const socket = new ChatSocket({ token: () => 't1', renew: async () => false });
  const detach = attach(socket);
  const reached = socket.read('r1', reading().reading);
  nth(0).opens().tells({ type: 'auth_ok' });
  await soon();
  detach();
  expect(await reached).toBe('renew');
  expect(nth(0).readyState).toBe(3);
  const probe = vi.spyOn(socket, 'probe');
  const close = vi.spyOn(socket, 'close');
  window.dispatchEvent(new Event('offline'));
  clearSession();
  expect([probe.mock.calls, close.mock.calls]).toEqual([[], []]);
});
