import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { setLanguage } from '../i18n/index.ts';
import { userFixture } from './fixtures.ts';
import { readDraft } from '../lib/drafts.ts';
import { Failure } from './failure.ts';
import { accessToken, clearSession, enterByCookie, proveTicket, refresh, restore, session, setSession, signIn, signUp, ticketOf } from './session.ts';

const ada = userFixture('u1', { email: 'ada@example.org' });
const credentials = { user: ada, access_token: 'a2', refresh_token: 'r2', session_id: 's2', session_expires_at: '' };

let asked: { path: string; body: Record<string, unknown>; bearer: string | null }[];
let answers: Response[];

function answer(status: number, body: unknown): Response {
  return new Response(JSON.stringify(status < 400 ? { data: body } : { error: body }), { status });
}

beforeEach(() => {
  asked = [];
  answers = [];
  clearSession();
  vi.stubGlobal('fetch', async (path: string, init: RequestInit) => {
    const bearer = new Headers(init.headers).get('Authorization');
    asked.push({ path, body: JSON.parse(String(init.body)) as Record<string, unknown>, bearer });
    return answers.shift() ?? answer(500, { code: 'server_error', message: 'not expected' });
  });
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

// Requirements: AUTH-13, AUTH-15
describe('a sign-in that asks for a second factor', () => {
  const needed = { code: 'unauthorized', message: 'too', details: { reason: 'mfa_required', ticket: 'T', expires_in: 300 } };

  it('gives a ticket and signs nobody in', async () => {
    answers = [answer(401, needed)];
    const error = await signIn('ada@example.org', 'secret').catch((failure: unknown) => failure);
    expect(ticketOf(error)).toBe('T');
    expect([accessToken(), session.get().state]).toEqual([null, 'out']);
  });

  it('is completed by the ticket and either proof, without the password', async () => {
    answers = [answer(200, credentials), answer(200, credentials)];
    await proveTicket('T', { code: '123456' });
    await proveTicket('T', { recovery_code: 'abcd' });
    expect(asked.map((one) => one.body)).toEqual([
      { ticket: 'T', code: '123456' },
      { ticket: 'T', recovery_code: 'abcd' },
    ]);
    expect([accessToken(), session.get().user?.id]).toEqual(['a2', 'u1']);
  });

  it('is no other refusal', () => {
    expect(ticketOf(new Failure(401, 'unauthorized', 'wrong'))).toBe(null);
    expect(ticketOf(new Failure(401, 'unauthorized', 'wrong', { reason: 'code_wrong', ticket: 'T' }))).toBe(null);
    expect(ticketOf(new Error('other'))).toBe(null);
  });
});

it('a sign-up that waits for a mail signs nobody in, and says in which language to write', async () => {
  setLanguage('de');
  answers = [answer(200, { confirm_email: true })];
  expect(await signUp('ada@example.org', 'secret')).toBe(false);
  expect([accessToken(), session.get().state]).toEqual([null, 'out']);
  expect(asked[0]!.body).toEqual({ email: 'ada@example.org', password: 'secret', locale: 'de' });
  setLanguage('en');
});

it('a tenant is named where one was given, and only there', async () => {
  answers = [answer(200, credentials), answer(200, credentials), answer(200, credentials)];
  await signIn('ada@example.org', 'secret', ' acme ');
  await signUp('ada@example.org', 'secret', 'acme');
  await signIn('ada@example.org', 'secret', '  ');
  expect(asked.map((one) => one.body['tenant_id'])).toEqual(['acme', 'acme', undefined]);
});

it('a session out of a callback is the cookie’s, not the one this page had', async () => {
  setSession({ ...credentials, access_token: 'of somebody else', user: { ...ada, id: 'u0' } });
  answers = [answer(200, credentials)];
  expect(await enterByCookie()).toBe(true);
  expect(asked).toEqual([{ path: '/v1/auth/refresh', body: {}, bearer: null }]);
  expect(session.get().user?.id).toBe('u1');
});

// Requirements: UI-17
describe('a refresh', () => {
  beforeEach(() => setSession({ ...credentials, access_token: 'a1' }));

  it('that is refused signs out', async () => {
    answers = [answer(401, { code: 'unauthorized', message: 'out' })];
    expect(await refresh()).toBe(false);
    expect([accessToken(), session.get().state]).toEqual([null, 'out']);
  });

  it('that another page is making just now is made again', async () => {
    vi.useFakeTimers();
    answers = [answer(409, { code: 'conflict', message: 'twice' }), answer(200, credentials)];
    const done = refresh();
    await vi.runAllTimersAsync();
    expect(await done).toBe(true);
    expect(accessToken()).toBe('a2');
  });

  it.each([429, 500, 503])('that %i keeps from happening signs nobody out', async (status) => {
    answers = [answer(status, { code: 'x', message: 'later' })];
    await expect(refresh()).rejects.toBeInstanceOf(Failure);
    expect([accessToken(), session.get().state]).toEqual(['a1', 'in']);
  });
});

// Requirements: UI-15
describe('words that were not sent', () => {
  it('are not shown to another person who comes back by their token', async () => {
    setSession({ ...credentials, access_token: 'a1' });
    localStorage.setItem('liminal.drafts.owner', 'u9');
    localStorage.setItem('liminal.drafts', JSON.stringify({ _new: { text: 'of another', savedAt: '' } }));
    answers = [answer(200, { user: ada })];
    vi.stubGlobal('fetch', async () => answers.shift()!);
    await restore();
    expect([session.get().user?.id, readDraft('_new')]).toEqual(['u1', '']);
    expect(localStorage.getItem('liminal.drafts')).toBe(null);
  });
});
