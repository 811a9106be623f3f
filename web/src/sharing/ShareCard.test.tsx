import { act } from 'react';
import { QueryClientProvider } from '@tanstack/react-query';
import { createRoot, type Root } from 'react-dom/client';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { queryClient } from '../api/queries.ts';
import type { Share } from '../api/shares.ts';
import { setLanguage } from '../i18n/index.ts';
import { ShareCard, SharedFrom } from './ShareCard.tsx';

const ada = { id: 'a', email: 'ada@example.org', handle: 'ada' };
const bob = { id: 'b', email: 'bob@example.org', handle: 'bob' };
const shareFixture = (over: Partial<Share> = {}): Share => ({
  id: 's1', kind: 'context', object_id: 'c1', name: 'Law', owner: ada, with: bob, write: false, created_at: '2026-05-04T12:00:00Z', ...over,
});

let root: Root;
let place: HTMLElement;
let asked: [method: string, path: string, body: unknown][];
let server: { given: Share[]; received: Share[] };

beforeEach(() => {
  Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });
  setLanguage('en');
  asked = [];
  server = { given: [], received: [] };
  vi.stubGlobal('fetch', async (address: string, request: RequestInit) => {
    const method = request.method ?? 'GET';
    const body: unknown = request.body ? JSON.parse(String(request.body)) : null;
    if (method !== 'GET') asked.push([method, address, body]);
    if (method === 'POST') server.given = [shareFixture({ write: (body as { write?: boolean }).write ?? false })];
    if (method === 'DELETE') server.given = server.received = [];
    const data = method === 'GET' ? { data: address.includes('received=true') ? server.received : server.given, next_cursor: null } : {};
    return Response.json({ status: 'ok', data, request_id: '' });
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

async function show(what: React.ReactNode) {
  act(() => root.render(<QueryClientProvider client={queryClient}>{what}</QueryClientProvider>));
  await settled();
}

const field = (name: string) => place.querySelector<HTMLInputElement>(`[name="${name}"]`)!;
const button = (label: string, within: ParentNode = document) => [...within.querySelectorAll('button')].find((one) => one.textContent === label || one.getAttribute('aria-label') === label)!;

async function press(one: HTMLElement) {
  act(() => one.click());
  await settled();
}

// Requirements: ISO-06 (shared)
it('gives something to a person, says who has it, and takes it back', async () => {
  await show(<ShareCard thing={{ context_id: 'c1' }} />);
  expect(place.textContent).toContain('Nobody but you has this.');
  field('with').value = ' bob@example.org ';
  field('write').checked = true;
  await press(button('Share'));
  expect(asked).toEqual([['POST', '/v1/shares', { context_id: 'c1', with: 'bob@example.org', write: true }]]);
  expect(place.querySelector('.share-list')?.textContent).toContain('bob@example.org reads and adds');
  await press(button('Take back from bob@example.org'));
  expect(asked).toHaveLength(1); // it is asked first
  await press(button('Take back', document.querySelector('dialog')!));
  expect(asked[1]).toEqual(['DELETE', '/v1/shares/s1', null]);
  expect(place.textContent).toContain('Nobody but you has this.');
});

it('gives something to everybody, and a set only to read', async () => {
  await show(<ShareCard thing={{ document_set_id: 'd1' }} />);
  expect(field('write')).toBeNull();
  await press(field('everyone'));
  expect(field('with')).toBeNull();
  await press(button('Share'));
  expect(asked[0]?.[2]).toEqual({ document_set_id: 'd1', everyone: true });
});

// Requirements: ISO-06 (shared)
it('says from whom something is, and lets go of it', async () => {
  server.received = [shareFixture({ write: true })];
  const left = vi.fn();
  await show(<SharedFrom thing={{ context_id: 'c1' }} onLeft={left} />);
  expect(place.textContent).toContain('ada@example.org shares this with you; you may add to it.');
  await press(button('Let go of it'));
  await press(button('Let go of it', document.querySelector('dialog')!));
  expect(asked).toEqual([['DELETE', '/v1/shares/s1', null]]);
  expect(left).toHaveBeenCalled();
});

it('lets nobody go of what everybody has, in German too', async () => {
  setLanguage('de');
  server.received = [shareFixture({ with: null })];
  await show(<SharedFrom thing={{ context_id: 'c1' }} />);
  expect(place.textContent).toContain('ada@example.org teilt das mit dir.');
  expect(button('Nicht mehr nutzen')).toBeUndefined();
});
