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

function List({ active }: { active: string | null }) {
  return <Sidebar id="list" query={useConversations()} active={active} open={false} close={() => undefined} />;
}

function page(titles: string[], next_cursor: string | null = null) {
  const data = titles.map((title) => ({ id: title, title, updated_at: new Date().toISOString() }));
  return Response.json({ status: 'ok', data: { data, next_cursor }, request_id: 'r' });
}

function show(active: string | null = null) {
  const box = document.createElement('div');
  const root = createRoot(box);
  act(() =>
    root.render(
      <QueryClientProvider client={queryClient}>
        <List active={active} />
      </QueryClientProvider>,
    ),
  );
  const come = () => act(() => vi.advanceTimersByTimeAsync(100));
  const rows = () => [...box.querySelectorAll('.row .name')].map((name) => name.textContent);
  return { box, root, come, rows };
}

// Requirements: UI-03 (paginated)
it('conversations come a page at a time, and the next one follows the last', async () => {
  const pages: Record<string, [string[], string | null]> = { '': [['Ninth', 'Eighth'], 'p2'], p2: [['Seventh'], 'p3'], p3: [['First'], null] };
  const asked: string[] = [];
  vi.stubGlobal('fetch', async (address: string) => {
    const query = new URL(address, 'http://here').searchParams;
    if (query.get('from') === 'programs') return page([]);
    asked.push(`${query.get('cursor') ?? ''} of ${query.get('limit')}`);
    const [titles, next_cursor] = pages[query.get('cursor') ?? '']!;
    return page(titles, next_cursor);
  });
  const { box, root, come, rows } = show();
  await come();
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

it('what programs began is folded, and is searched and opened like the others', async () => {
  vi.stubGlobal('fetch', async (address: string) =>
    page(new URL(address, 'http://here').searchParams.get('from') === 'programs' ? ['Nightly report', 'Mails'] : ['Mine']),
  );
  const { box, root, come, rows } = show();
  await come();
  await come();
  const fold = () => box.querySelector<HTMLButtonElement>('.programs .fold');
  expect(fold()?.textContent).toBe('From programs');
  expect(fold()?.getAttribute('aria-expanded')).toBe('false');
  expect(rows()).toEqual(['Mine']);
  act(() => fold()!.click());
  expect(rows()).toEqual(['Mine', 'Nightly report', 'Mails']);
  expect(box.querySelector('.programs .row a')?.getAttribute('href')).toBe('/c/Nightly report');
  act(() => fold()!.click());
  expect(rows()).toEqual(['Mine']);

  const search = box.querySelector<HTMLInputElement>('input[type=search]')!;
  act(() => {
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')!.set!.call(search, 'report');
    search.dispatchEvent(new Event('input', { bubbles: true }));
  });
  expect(rows()).toEqual(['Nightly report']);
  act(() => root.unmount());

  const shown = show('Mails');
  await shown.come();
  await shown.come();
  expect(shown.rows()).toEqual(['Mine', 'Nightly report', 'Mails']);
  act(() => shown.root.unmount());
});
