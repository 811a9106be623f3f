import { act } from 'react';
import { QueryClientProvider } from '@tanstack/react-query';
import { createRoot } from 'react-dom/client';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { queryClient, useConversations } from '../api/queries.ts';
import { setLanguage } from '../i18n/index.ts';
import { Sidebar } from './Sidebar.tsx';

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });

beforeEach(() => {
  setLanguage('en');
  vi.useFakeTimers();
});
afterEach(() => {
  queryClient.clear();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

function List() {
  return <Sidebar id="list" query={useConversations()} active={null} open={false} close={() => undefined} />;
}

// Requirements: UI-03 (paginated)
it('conversations come a page at a time, and the next one follows the last', async () => {
  const pages: Record<string, [string[], string | null]> = { '': [['Ninth', 'Eighth'], 'p2'], p2: [['Seventh'], 'p3'], p3: [['First'], null] };
  const asked: string[] = [];
  vi.stubGlobal('fetch', async (address: string) => {
    const query = new URL(address, 'http://here').searchParams;
    asked.push(`${query.get('cursor') ?? ''} of ${query.get('limit')}`);
    const [titles, next_cursor] = pages[query.get('cursor') ?? '']!;
    const data = titles.map((title) => ({ id: title, title, updated_at: new Date().toISOString() }));
    return Response.json({ status: 'ok', data: { data, next_cursor }, request_id: 'r' });
  });
  const box = document.createElement('div');
  const root = createRoot(box);
  act(() =>
    root.render(
      <QueryClientProvider client={queryClient}>
        <List />
      </QueryClientProvider>,
    ),
  );
  const come = () => act(() => vi.advanceTimersByTimeAsync(100));
  await come();
  const rows = () => [...box.querySelectorAll('.row .name')].map((name) => name.textContent);
  const more = () => [...box.querySelectorAll('button')].find((button) => button.textContent === 'Show more');
  expect(rows()).toEqual(['Ninth', 'Eighth']);
  act(() => more()!.click());
  await come();
  expect(rows()).toEqual(['Ninth', 'Eighth', 'Seventh']);
  act(() => more()!.click());
  await come();
  expect(rows()).toEqual(['Ninth', 'Eighth', 'Seventh', 'First']);
  expect(asked).toEqual([' of 50', 'p2 of 50', 'p3 of 50']);
  expect(more()).toBeUndefined();
  act(() => root.unmount());
});
