import { act } from 'react';
import { QueryClientProvider } from '@tanstack/react-query';
import { createRoot, type Root } from 'react-dom/client';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { queryClient } from '../api/queries.ts';
import type { Conversation } from '../api/types.ts';
import { setLanguage } from '../i18n/index.ts';
import { carryOver, chosenBackend, forgetChoices } from './choice.ts';
import BackendChooser from './BackendChooser.tsx';

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });

const lab = { name: 'lab', title: 'The lab', model: 'tiny', is_default: true };
const office = { name: 'office', title: 'The office', model: 'huge', is_default: false };

let root: Root;
let box: HTMLElement;

function show(options: object[], conversation: Conversation | null): HTMLSelectElement | null {
  queryClient.setQueryData(['backends', 'options'], options);
  act(() =>
    root.render(
      <QueryClientProvider client={queryClient}>
        <BackendChooser draftKey={conversation?.id ?? '_new'} conversation={conversation} />
      </QueryClientProvider>,
    ),
  );
  return box.querySelector('select');
}

beforeEach(() => {
  setLanguage('en');
  box = document.createElement('div');
  root = createRoot(box);
});
afterEach(() => {
  act(() => root.unmount());
  forgetChoices();
  queryClient.clear();
  vi.unstubAllGlobals();
});

// Requirements: UI-06
it('shows nothing while there is nothing to choose', () => {
  expect(show([], null)).toBeNull();
});

// Requirements: UI-06
it('keeps a choice with its conversation, on the server', async () => {
  const sent = vi.fn(async (_: string, init: RequestInit) => Response.json({ status: 'ok', data: init.method === 'GET' ? { data: [], next_cursor: null } : {}, request_id: 'r' }));
  vi.stubGlobal('fetch', sent);
  const select = show([lab, office], { id: 'c1', backend: 'office' } as Conversation)!;
  expect([...select.options].map((one) => one.textContent)).toEqual(['Default: The lab', 'The office']);
  expect(select.value).toBe('office');
  await act(async () => {
    select.value = '';
    select.dispatchEvent(new Event('change', { bubbles: true }));
  });
  const [path, init] = sent.mock.calls.find(([, one]) => one.method === 'PATCH')!;
  expect([path, init.body]).toEqual(['/v1/conversations/c1', '{"backend":""}']);
});

// Requirements: UI-06
it('carries the choice for a conversation to come over to it', async () => {
  const select = show([lab, office], null)!;
  await act(async () => {
    select.value = 'office';
    select.dispatchEvent(new Event('change', { bubbles: true }));
  });
  act(() => carryOver('_new', 'c2'));
  expect(chosenBackend.get()).toEqual({ c2: 'office' });
});

// Requirements: UI-06
it('shows a choice that is not offered any more, so that another can be made', () => {
  expect(show([], { id: 'c1', backend: 'gone' } as Conversation)!.selectedOptions[0]?.textContent).toBe('gone (not offered any more)');
});
