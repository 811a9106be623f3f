import { act } from 'react';
import { QueryClientProvider } from '@tanstack/react-query';
import { createRoot, type Root } from 'react-dom/client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { AccessKey } from '../api/keys.ts';
import { queryClient } from '../api/queries.ts';
import { setLanguage } from '../i18n/index.ts';
import KeysPage from './KeysPage.tsx';
import { offered } from './scopes.ts';

const text = 'lim_0123456789abcdef0123456789abcdef_secretsecretsecret_000000';

const keyFixture = (over: Partial<AccessKey> = {}): AccessKey => ({
  id: 'k1',
  name: 'nightly report',
  scopes: ['chat', 'tools:files.*'],
  audience: '',
  assistants: ['default'],
  created_at: '2026-05-04T12:00:00Z',
  expires_at: '2126-06-04T12:00:00Z',
  used_at: null,
  revoked_at: null,
  ended: false,
  ...over,
});

let root: Root;
let place: HTMLElement;
let asked: [method: string, path: string, body: unknown][];
let server: { keys: AccessKey[]; factor: boolean };

function given(method: string, path: string, body: unknown): object {
  if (path === '/v1/keys' && method === 'GET') return { data: server.keys, next_cursor: null };
  if (path === '/v1/keys') {
    const made = keyFixture(body as Partial<AccessKey>);
    server.keys = [made];
    return { ...made, key: text };
  }
  if (path === '/v1/auth/mfa') return { enabled: server.factor, recovery_codes_left: 3 };
  if (method === 'DELETE') server.keys = [keyFixture({ ended: true, revoked_at: '2026-05-05T12:00:00Z' })];
  return {};
}

beforeEach(() => {
  Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });
  setLanguage('en');
  asked = [];
  server = { keys: [], factor: false };
  vi.stubGlobal('fetch', async (address: string, request: RequestInit) => {
    const method = request.method ?? 'GET';
    const body: unknown = request.body ? JSON.parse(String(request.body)) : null;
    if (method !== 'GET') asked.push([method, address, body]);
    return Response.json({ status: 'ok', data: given(method, address, body), request_id: '' });
  });
  HTMLDialogElement.prototype.showModal = function showModal() {
    this.open = true;
  };
  place = document.body.appendChild(document.createElement('div'));
  root = createRoot(place);
});
afterEach(() => {
  act(() => root.unmount());
  place.remove();
  queryClient.clear();
  vi.unstubAllGlobals();
});

const settled = () =>
  act(async () => {
    for (let quiet = 0; quiet < 3; quiet = queryClient.isFetching() > 0 ? 0 : quiet + 1) await new Promise((done) => setTimeout(done, 0));
  });

async function show() {
  act(() =>
    root.render(
      <QueryClientProvider client={queryClient}>
        <KeysPage />
      </QueryClientProvider>,
    ),
  );
  await settled();
}

const field = (name: string) => place.querySelector<HTMLInputElement>(`[name="${name}"]`)!;
const button = (label: string) => [...document.querySelectorAll('button')].find((one) => one.textContent === label || one.getAttribute('aria-label') === label)!;

async function press(one: HTMLElement) {
  act(() => one.click());
  await settled();
}

describe('access keys', () => {
  it('are made with what is picked, and shown once', async () => {
    await show();
    expect(place.textContent).toContain('You have no access keys.');
    field('name').value = ' nightly report ';
    await press(button('Make the key'));
    expect(asked).toEqual([]); // nothing was picked
    expect(place.querySelector('[role=alert]')?.textContent).toBe('Pick at least one thing it opens.');
    field('scope-chat').checked = true;
    field('scope-read').checked = true;
    field('assistants').value = 'default, documents';
    await press(button('Make the key'));
    expect(asked).toEqual([
      ['POST', '/v1/keys', { name: 'nightly report', scopes: ['chat', 'read'], expires_in_days: 90, assistants: ['default', 'documents'] }],
    ]);
    expect(place.textContent).toContain(text);
    await press(button('I have copied it'));
    expect(place.textContent).not.toContain(text);
    expect(place.textContent).toContain('nightly report');
  });

  it('take a code of an account that has a second factor', async () => {
    server.factor = true;
    await show();
    field('name').value = 'x';
    field('scope-write').checked = true;
    field('proof').value = '123 456';
    await press(button('Make the key'));
    expect(asked[0]?.[2]).toMatchObject({ scopes: ['write'], code: '123456' });
  });

  it('say what they open, until when and when they were used, and end when told', async () => {
    server.keys = [keyFixture(), keyFixture({ id: 'k2', name: 'old', audience: 'mcp', ended: true, expires_at: '2020-01-01T12:00:00Z' })];
    await show();
    const rows = [...place.querySelectorAll('.key-list li')].map((row) => row.textContent ?? '');
    expect(rows[0]).toContain('chat, tools:files.*only for defaultgood until');
    expect(rows[0]).toContain('never used');
    expect(rows[1]).toContain('ran out on');
    expect(rows[1]).toContain('over MCP only');
    expect(rows[0]).not.toContain('over MCP only');
    await press(button('End the key “nightly report”'));
    expect(document.body.textContent).toContain('End “nightly report”?');
    expect(asked).toEqual([]);
    await press([...document.querySelectorAll('dialog button')].find((one) => one.textContent === 'End') as HTMLElement);
    expect(asked).toEqual([['DELETE', '/v1/keys/k1', null]]);
    expect(place.textContent).toContain('You have no access keys.');
  });

  it('speak German', async () => {
    setLanguage('de');
    server.keys = [keyFixture()];
    await show();
    expect(place.textContent).toContain('nie benutzt');
    expect(button('Schlüssel anlegen')).toBeDefined();
  });

  it('offer administration to administrators only', () => {
    expect(offered('user')).not.toContain('admin');
    expect(offered('admin')).toContain('admin');
  });
});
