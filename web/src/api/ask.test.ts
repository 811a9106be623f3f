import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { address, ask } from './ask.ts';

let asked: { url: string; init: RequestInit }[];

beforeEach(() => {
  asked = [];
  vi.stubGlobal('fetch', async (url: string, init: RequestInit) => {
    asked.push({ url, init });
    return new Response(JSON.stringify({ status: 'ok', data: { id: 'a' }, request_id: 'r' }), { status: 200 });
  });
});
afterEach(() => vi.unstubAllGlobals());

describe('an address', () => {
  it('has a parameter as one segment, whatever is in it', () => {
    expect(address('/v1/things/{id}/parts/{n}', { id: 'a/../b?x#y z', n: 3 })).toBe('/v1/things/a%2F..%2Fb%3Fx%23y%20z/parts/3');
  });

  it.each(['', '.', '..', undefined, null])('is not made of %j', (id) => {
    expect(() => address('/v1/things/{id}', { id })).toThrow('{id}');
  });

  it('leaves out what has no value, and no more', () => {
    expect(address('/v1/things', {}, { cursor: '', limit: 0, mine: false, status: undefined, q: null, type: 'a b&c' })).toBe('/v1/things?limit=0&mine=false&type=a+b%26c');
  });
});

describe('asking for an operation', () => {
  it('gives its data without the envelope', async () => {
    expect(await ask('artifact', { path: { id: 'a' } })).toEqual({ id: 'a' });
    expect([asked[0]!.init.method, asked[0]!.url]).toEqual(['GET', '/v1/artifacts/a']);
  });

  it('sends a body as JSON, and none where there is none', async () => {
    await ask('renameDocument', { path: { id: 'd' }, body: { title: 'T' } });
    await ask('enableMFA');
    const [rename, enable] = asked.map(({ init }) => ({ method: init.method, body: init.body, type: new Headers(init.headers).get('Content-Type') }));
    expect(rename).toEqual({ method: 'PATCH', body: '{"title":"T"}', type: 'application/json' });
    expect(enable).toEqual({ method: 'POST', body: undefined, type: null });
  });

  it('names a write, by the name given', async () => {
    await ask('createConversation', { body: {}, key: 'k' });
    await ask('deleteConversation', { path: { id: 'c' } });
    await ask('me');
    expect(asked.map(({ init }) => new Headers(init.headers).get('Idempotency-Key'))).toEqual(['k', expect.stringMatching(/^[0-9a-f-]{36}$/), null]);
  });
});
