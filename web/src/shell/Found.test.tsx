import { act } from 'react';
import { QueryClientProvider } from '@tanstack/react-query';
import { createRoot } from 'react-dom/client';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Router } from 'wouter';
import { searchable } from '../api/conversations.ts';
import { queryClient } from '../api/queries.ts';
import { setLanguage } from '../i18n/index.ts';
import { Found } from './Found.tsx';

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });

let asked: string[];

beforeEach(() => {
  setLanguage('en');
  vi.useFakeTimers();
  asked = [];
  vi.stubGlobal('fetch', async (address: string) => {
    asked.push(address);
    const one = {
      conversation_id: 'c',
      title: 'Keys',
      message_id: 'm',
      role: 'user',
      created_at: '2026-11-23T14:00:00Z',
      excerpt: [{ text: 'the ', hit: false }, { text: 'Schlüssel', hit: true }],
    };
    return Response.json({ status: 'ok', data: { data: [one], next_cursor: null }, request_id: 'r' });
  });
});
afterEach(() => {
  queryClient.clear();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

it('shows the messages that hold what is typed, once the typing pauses', async () => {
  const box = document.createElement('div');
  const root = createRoot(box);
  const show = (text: string) =>
    act(async () =>
      root.render(
        <QueryClientProvider client={queryClient}>
          <Router>
            <Found text={text} />
          </Router>
        </QueryClientProvider>,
      ),
    );
  await show('s');
  expect(box.textContent).toBe('');
  await show('schl');
  await show('schlü');
  await act(() => vi.advanceTimersByTimeAsync(300));
  await act(() => vi.advanceTimersByTimeAsync(300)); // what came is shown with the next turn of the clock
  expect(asked).toEqual(['/v1/conversations/search?q=schl%C3%BC&limit=20']);
  expect(box.querySelector('a')?.getAttribute('href')).toBe('/c/c');
  expect(box.querySelector('mark')?.textContent).toBe('Schlüssel');
  expect(box.querySelector('.excerpt')?.textContent).toBe('the Schlüssel');
  await act(async () => root.unmount());
});

it('searches for words only', () => {
  expect(['a', '--', ' ? ', 'ab', '3.14', 'Ä1'].filter(searchable)).toEqual(['ab', '3.14', 'Ä1']);
});
