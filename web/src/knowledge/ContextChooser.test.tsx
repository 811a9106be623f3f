import { act } from 'react';
import { QueryClientProvider } from '@tanstack/react-query';
import { createRoot } from 'react-dom/client';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { keys, queryClient } from '../api/queries.ts';
import type { Conversation } from '../api/types.ts';
import { setLanguage } from '../i18n/index.ts';
import { forgetChoices } from './choice.ts';
import { ContextChooser } from './ContextChooser.tsx';

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });

beforeEach(() => setLanguage('en'));
afterEach(() => {
  forgetChoices();
  queryClient.clear();
  vi.unstubAllGlobals();
});

// Requirements: UI-06
it('a context that is none of the list can be left for all documents', async () => {
  const sent = vi.fn(async (_: string, init: RequestInit) => Response.json({ status: 'ok', data: init.method === 'GET' ? { data: [], next_cursor: null } : {}, request_id: 'r' }));
  vi.stubGlobal('fetch', sent);
  queryClient.setQueryData(keys.contexts, []);
  const box = document.createElement('div');
  const root = createRoot(box);
  const conversation = { id: 'c1', active_context_id: 'gone' } as Conversation;
  act(() =>
    root.render(
      <QueryClientProvider client={queryClient}>
        <ContextChooser draftKey="c1" conversation={conversation} />
      </QueryClientProvider>,
    ),
  );
  const select = box.querySelector('select')!;
  expect(select.selectedOptions[0]?.textContent).toBe('One that is not listed');
  await act(async () => {
    select.value = '';
    select.dispatchEvent(new Event('change', { bubbles: true }));
  });
  const [path, init] = sent.mock.calls.find(([, one]) => one.method === 'PATCH')!;
  expect([path, init.body]).toEqual(['/v1/conversations/c1', '{"active_context_id":""}']);
  act(() => root.unmount());
});

// Of more contexts than the list holds, the others are looked for by name.
it('contexts beyond the list are found by their names', async () => {
  const sent = vi.fn(async (path: string, _: RequestInit) => {
    const data = path.includes('q=') ? { data: [{ id: 'far', name: 'Far away' }], next_cursor: null } : { name: 'Far away' };
    return Response.json({ status: 'ok', data, request_id: 'r' });
  });
  vi.stubGlobal('fetch', sent);
  queryClient.setQueryData(keys.contexts, Array.from({ length: 100 }, (_, at) => ({ id: `c${at}`, name: `Context ${at}` })));
  const box = document.createElement('div');
  const root = createRoot(box);
  act(() =>
    root.render(
      <QueryClientProvider client={queryClient}>
        <ContextChooser draftKey="new" conversation={null} />
      </QueryClientProvider>,
    ),
  );
  const search = box.querySelector<HTMLInputElement>('input[type=search]')!;
  await act(async () => {
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')!.set!.call(search, 'far');
    search.dispatchEvent(new Event('input', { bubbles: true }));
    await new Promise((done) => setTimeout(done, 0));
  });
  await act(async () => {
    for (let quiet = 0; quiet < 3; quiet = queryClient.isFetching() > 0 ? 0 : quiet + 1) await new Promise((done) => setTimeout(done, 0));
  });
  expect(sent.mock.calls.some(([path]) => path.startsWith('/v1/contexts?') && path.includes('q=far'))).toBe(true);
  expect([...box.querySelectorAll('option')].map((one) => one.textContent)).toEqual(['All my documents', 'Far away']);
  act(() => root.unmount());
});
