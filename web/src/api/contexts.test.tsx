import { act } from 'react';
import { QueryClientProvider } from '@tanstack/react-query';
import { createRoot } from 'react-dom/client';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { deleteContext, useChunks, useDocumentPages, useOneContext } from './contexts.ts';
import { queryClient } from './queries.ts';

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });

let statuses: string[];
let asked: string[];

beforeEach(() => {
  vi.useFakeTimers();
  asked = [];
  vi.stubGlobal('fetch', async (address: string) => {
    const path = address.split('?')[0]!;
    asked.push(path);
    const status = path.endsWith('/documents') ? (statuses.shift() ?? 'ready') : 'ready';
    const data = path === '/v1/contexts/c' ? { id: 'c', chunks: 0 } : { data: [{ id: 'd', status }], next_cursor: null };
    return Response.json({ status: 'ok', data, request_id: 'r' });
  });
});
afterEach(() => {
  queryClient.clear();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

function Page() {
  useDocumentPages('c');
  useOneContext('c');
  useChunks('c', 0);
  return null;
}

// Requirements: UI-10
it('a context and its passages are looked at again once its documents are read in', async () => {
  statuses = ['reading', 'reading', 'ready'];
  const root = createRoot(document.createElement('div'));
  const pass = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms));
  act(() =>
    root.render(
      <QueryClientProvider client={queryClient}>
        <Page />
      </QueryClientProvider>,
    ),
  );
  const times = (path: string) => asked.filter((one) => one === path).length;
  await pass(2_000);
  expect([times('/v1/contexts/c/documents'), times('/v1/contexts/c'), times('/v1/contexts/c/chunks')]).toEqual([2, 1, 1]);
  await pass(2_000);
  expect([times('/v1/contexts/c/documents'), times('/v1/contexts/c'), times('/v1/contexts/c/chunks')]).toEqual([3, 2, 2]);
  await pass(10_000);
  expect(times('/v1/contexts/c/documents')).toBe(3);
  act(() => root.unmount());
});

// Requirements: UI-10
it('a context that was deleted is not asked for again, though its page is still there', async () => {
  statuses = [];
  const root = createRoot(document.createElement('div'));
  const draw = () =>
    act(() =>
      root.render(
        <QueryClientProvider client={queryClient}>
          <Page />
        </QueryClientProvider>,
      ),
    );
  await draw();
  await act(() => vi.advanceTimersByTimeAsync(100));
  asked = [];
  await act(() => deleteContext('c'));
  await draw();
  await act(() => vi.advanceTimersByTimeAsync(10_000));
  expect(asked.filter((path) => path.startsWith('/v1/contexts/c'))).toEqual(['/v1/contexts/c']); // the deletion
  await act(() => root.unmount());
});
