import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ask } from './ask.ts';
import { Failure } from './failure.ts';
import { userFixture } from './fixtures.ts';
import { clearSession, currentSession, setSession } from './session.ts';
import { upload } from './upload.ts';

let asked: { path: string; headers: Headers; at: number }[];
let answers: (Response | Error)[];

const problem = (status: number, body: unknown = {}) => new Response(JSON.stringify(body), { status });
const fine = () => problem(200, { status: 'ok', data: { ok: true }, request_id: 'r' });

beforeEach(() => {
  vi.useFakeTimers();
  asked = [];
  answers = [];
  vi.stubGlobal('fetch', async (path: string, init: RequestInit) => {
    asked.push({ path, headers: new Headers(init.headers), at: Date.now() });
    const next = answers.shift() ?? fine();
    if (next instanceof Error) throw next;
    return next;
  });
});
afterEach(() => {
  clearSession();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

async function outcome(work: Promise<unknown>): Promise<unknown> {
  const done = work.catch((error: unknown) => error);
  await vi.runAllTimersAsync();
  return done;
}

const pauses = () => asked.slice(1).map((one, i) => one.at - asked[i]!.at);

// Requirements: UI-19
describe('a server that fails', () => {
  it('is asked three times more, after 400 ms and twice as long each time', async () => {
    answers = [problem(500), problem(503), problem(502), problem(500), fine()];
    const error = await outcome(ask('me'));
    expect(error).toMatchObject({ status: 500, code: 'server_error' });
    expect(pauses()).toEqual([400, 800, 1600]);
  });

  it('is asked once where its failure is what one wants to know', async () => {
    answers = [problem(500), fine()];
    expect(await outcome(ask('health', { once: true }))).toMatchObject({ status: 500 });
    expect(asked).toHaveLength(1);
  });

  it('is not asked again once it answers', async () => {
    answers = [problem(500), fine()];
    expect(await outcome(ask('me'))).toEqual({ ok: true });
    expect(pauses()).toEqual([400]);
  });

  it('is told the same name of a write each time, so that it happens once', async () => {
    answers = [problem(500), problem(500), fine()];
    await outcome(ask('createConversation', { body: {} }));
    const names = asked.map((one) => one.headers.get('Idempotency-Key'));
    expect(names).toHaveLength(3);
    expect(names[0]).toMatch(/^[0-9a-f-]{36}$/);
    expect(new Set(names).size).toBe(1);
  });

  it('is left alone when nobody waits any more', async () => {
    answers = [problem(500)];
    const leaving = new AbortController();
    const done = ask('me', { signal: leaving.signal }).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(100);
    leaving.abort();
    await done;
    await vi.runAllTimersAsync();
    expect(asked).toHaveLength(1);
  });

  it.each([400, 403, 404, 409, 429])('but a %i is final', async (status) => {
    answers = [problem(status)];
    expect(await outcome(ask('me'))).toMatchObject({ status });
    expect(asked).toHaveLength(1);
  });
});

// Requirements: UI-35
describe('what a person reads of a failure', () => {
  const read = async (body: string, status = 400) => {
    answers = [new Response(body, { status })];
    return (await outcome(ask('me'))) as Failure;
  };

  it('is the envelope’s message', async () => {
    const failure = await read('{"status":"error","error":{"code":"conflict","message":"It is taken.","details":{"reason":"active"}},"detail":"no","request_id":"r"}', 409);
    expect([failure.message, failure.code, failure.detail('reason')]).toEqual(['It is taken.', 'conflict', 'active']);
  });

  it('is the detail, where there is no envelope', async () => {
    expect((await read('{"detail":"The proxy says no."}')).message).toBe('The proxy says no.');
  });

  it.each(['{}', '<html>', 'null', '{"error":{}}', ''])('is the status of an answer like %j', async (body) => {
    expect((await read(body, 404)).message).toBe('HTTP 404');
  });
});

const ada = userFixture('u1', { tenant_id: 'acme' });
const credentials = { user: ada, access_token: 'a1', refresh_token: 'r', session_id: 's1', session_expires_at: '' };
const said = (headers: Headers) => ['Authorization', 'X-Tenant-ID', 'session_id'].map((name) => headers.get(name));

// Requirements: UI-18
describe('a request', () => {
  it('says whose it is, in which tenant and which session', async () => {
    setSession(credentials);
    await outcome(ask('me'));
    await outcome(ask('deleteContext', { path: { id: 'c' } }));
    expect(asked.map((one) => said(one.headers))).toEqual([['Bearer a1', 'acme', 's1'], ['Bearer a1', 'acme', 's1']]);
    expect(asked.map((one) => one.headers.has('Idempotency-Key'))).toEqual([false, true]);
  });

  it('of nobody says nothing', async () => {
    setSession(credentials);
    clearSession();
    await outcome(ask('uiConfig'));
    expect(said(asked[0]!.headers)).toEqual([null, null, null]);
    expect(currentSession()).toBe(null);
  });

  it('that is made again after a refresh is of the new session', async () => {
    setSession(credentials);
    answers = [problem(401), problem(200, { data: { ...credentials, access_token: 'a2', session_id: 's2' } }), fine()];
    await outcome(ask('me'));
    expect(asked.map((one) => [one.path, ...said(one.headers)])).toEqual([
      ['/v1/auth/me', 'Bearer a1', 'acme', 's1'],
      ['/v1/auth/refresh', 'Bearer a1', 'acme', 's1'],
      ['/v1/auth/me', 'Bearer a2', 'acme', 's2'],
    ]);
  });

  it('with a file says the same', async () => {
    setSession(credentials);
    const headers = new Headers();
    vi.stubGlobal(
      'XMLHttpRequest',
      class extends EventTarget {
        status = 200;
        responseText = '{"data":{}}';
        upload = new EventTarget();
        open() {}
        setRequestHeader(name: string, value: string) {
          headers.set(name, value);
        }
        send() {
          this.dispatchEvent(new Event('load'));
        }
      },
    );
    await upload(new File(['x'], 'x.txt'), { contextID: 'c' }, new AbortController().signal, () => undefined);
    expect(said(headers)).toEqual(['Bearer a1', 'acme', 's1']);
    expect(headers.get('Idempotency-Key')).toMatch(/^[0-9a-f-]{36}$/);
  });
});

// Requirements: UI-17
it('the token and the session’s id are kept for the tab, and go with the person', () => {
  setSession(credentials);
  expect([sessionStorage.getItem('liminal.token'), sessionStorage.getItem('liminal.session')]).toEqual(['a1', 's1']);
  expect(JSON.stringify({ ...localStorage })).not.toContain('a1');
  clearSession();
  expect([sessionStorage.getItem('liminal.token'), sessionStorage.getItem('liminal.session')]).toEqual([null, null]);
});

describe('another person who signs in meanwhile', () => {
  const as = (id: string) => ({ user: userFixture(id), access_token: `token-${id}`, refresh_token: '', session_id: `s-${id}`, session_expires_at: '' });
  const asking = () => asked.map((one) => `${one.path} ${one.headers.get('Authorization')}`);

  // Requirements: UI-17
  it('is not who asks again what was refused to the one before', async () => {
    setSession(as('ann'));
    answers = [problem(401), problem(200, { data: as('bob') }), fine()];
    expect(await outcome(ask('createConversation', { body: { title: 'of ann' } }))).toMatchObject({ status: 401 });
    expect(asking()).toEqual(['/v1/conversations Bearer token-ann', '/v1/auth/refresh Bearer token-ann']);
  });

  it('is not who asks again what the server was away for', async () => {
    setSession(as('ann'));
    answers = [problem(503), fine()];
    const work = ask('createConversation', { body: { title: 'of ann' } });
    work.catch(() => undefined);
    await vi.advanceTimersByTimeAsync(0);
    setSession(as('bob'));
    expect(await outcome(work)).toMatchObject({ status: 401 });
    expect(asking()).toEqual(['/v1/conversations Bearer token-ann']);
  });
});
