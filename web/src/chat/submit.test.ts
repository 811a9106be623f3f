import { afterEach, describe, expect, it, vi } from 'vitest';
import { NotOpened } from '../api/connection.ts';
import { Failure } from '../api/failure.ts';
import { userFixture } from '../api/fixtures.ts';
import { clearSession, setSession } from '../api/session.ts';
import { OutcomeUnknown } from '../api/socket.ts';
import { confirmSubmitted, forgetSubmitted, submit } from './submit.ts';

const ask = vi.hoisted(() => vi.fn());
const socket = vi.hoisted(() => ({ usable: true, submit: vi.fn() }));
vi.mock('../api/ask.ts', () => ({ ask }));
vi.mock('../api/pageSocket.ts', () => ({ pageSocket: socket }));

const accepted = { run_id: 'r', conversation_id: 'c' };
const keysAsked = () => ask.mock.calls.map(([, asking]) => (asking as { key: string }).key);

afterEach(() => {
  vi.useRealTimers();
  vi.resetAllMocks();
  socket.usable = true;
  forgetSubmitted();
});

describe('saying something', () => {
  // Requirements: UI-04, API-05
  it.each([['the socket broke before the reply', OutcomeUnknown], ['no socket can be opened', NotOpened]])('when %s, it is said over HTTP under the same name', async (_, Reason) => {
    socket.submit.mockRejectedValue(new Reason());
    ask.mockResolvedValue(accepted);
    const { request } = await submit({ message: 'hello' });
    const [sent, key] = socket.submit.mock.calls[0] as [object, string];
    expect(sent).toEqual({ message: 'hello', stream: true, client_request_id: key });
    expect(ask.mock.calls).toEqual([['chat', { body: sent, key }]]);
    expect(request).toBe(key);
  });

  it('what was refused is not said another way', async () => {
    socket.submit.mockRejectedValue(new Failure(429, 'rate_limited', 'Slowly.'));
    await expect(submit({ message: 'hello' })).rejects.toThrow('Slowly.');
    expect(ask).not.toHaveBeenCalled();
  });

  it('waits while the first attempt is still being worked on', async () => {
    vi.useFakeTimers();
    socket.usable = false;
    ask.mockRejectedValueOnce(new Failure(409, 'conflict', 'It still runs.', { reason: 'running' })).mockResolvedValue(accepted);
    const said = submit({ message: 'hello' });
    await vi.advanceTimersByTimeAsync(500);
    expect((await said).accepted).toBe(accepted);
    expect(new Set(keysAsked()).size).toBe(1);
  });

  // Requirements: API-05
  it('words given back because nobody answered keep their name when they are sent again', async () => {
    vi.useFakeTimers();
    socket.usable = false;
    ask.mockRejectedValue(new Failure(0, 'unreachable', ''));
    const lost = submit({ message: 'hello' }).catch((error: Failure) => error.unreachable);
    await vi.advanceTimersByTimeAsync(15_000);
    expect(await lost).toBe(true);
    ask.mockResolvedValue(accepted);
    const again = await submit({ message: 'hello' });
    expect(new Set(keysAsked())).toEqual(new Set([again.request]));
    expect((await submit({ message: 'hello' })).request).not.toBe(again.request); // the same words, meant anew
  });

  it.each([
    ['a few minutes later', () => vi.advanceTimersByTimeAsync(3 * 60_000)],
    ['once the first ones have shown up', async (name: string) => confirmSubmitted(name)],
  ] as const)('the same words are meant anew %s', async (_, passes) => {
    vi.useFakeTimers();
    socket.usable = false;
    ask.mockRejectedValue(new Failure(0, 'unreachable', ''));
    const lost = submit({ message: 'hello' }).catch(() => undefined);
    await vi.advanceTimersByTimeAsync(15_000);
    await lost;
    const first = keysAsked()[0]!;
    await passes(first);
    ask.mockResolvedValue(accepted);
    expect((await submit({ message: 'hello' })).request).not.toBe(first);
  });

  // Requirements: UI-17
  it('is not done by whoever signs in before it is known what became of it', async () => {
    const as = (id: string) => ({ user: userFixture(id), access_token: id, refresh_token: '', session_id: '', session_expires_at: '' });
    setSession(as('ann'));
    socket.submit.mockImplementation(async () => {
      setSession(as('bob'));
      throw new OutcomeUnknown();
    });
    await expect(submit({ message: 'of ann' })).rejects.toMatchObject({ status: 401 });
    expect(ask).not.toHaveBeenCalled();
    clearSession();
  });
});
