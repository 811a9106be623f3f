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
