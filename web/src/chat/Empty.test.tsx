import { act } from 'react';
import { QueryClientProvider } from '@tanstack/react-query';
import { createRoot, type Root } from 'react-dom/client';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { keys, queryClient } from '../api/queries.ts';
import { setLanguage } from '../i18n/index.ts';
import { SurfaceContext, type Surface } from '../knowledge/surface.ts';
import { Empty } from './Empty.tsx';

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });

let box: HTMLElement;
let root: Root;

beforeEach(() => {
  setLanguage('en');
  vi.stubGlobal('fetch', async () => new Promise(() => {})); // what the page knows is in its cache
  box = document.createElement('div');
  root = createRoot(box);
});
afterEach(() => {
  act(() => root.unmount());
  queryClient.clear();
  vi.unstubAllGlobals();
});

function shown(contexts?: { documents: number }[]): string {
  if (contexts) queryClient.setQueryData(keys.contexts, contexts);
  act(() =>
    root.render(
      <QueryClientProvider client={queryClient}>
        <Empty start={() => {}} />
      </QueryClientProvider>,
    ),
  );
  return box.textContent;
}

const first = 'There is nothing to answer from yet: drop files or a folder anywhere in this window';

it('tells a newcomer how documents come in, and nobody who has some', () => {
  expect(shown([])).toContain(first);
  act(() => root.render(null));
  expect(shown([{ documents: 0 }, { documents: 2 }])).not.toContain(first);
  act(() => root.render(null));
  expect(shown([{ documents: 0 }])).toContain(first);
});

// Requirements: GRND-34 (a click sends one)
it('sends a beginning of the workflow as it stands, with one click', () => {
  const surface: Surface = { title: 'T', tagline: '', empty: '', placeholder: '', thinking: '', accent: '', starters: ['Which berths are free?', 'What is due?'] };
  const start = vi.fn();
  act(() =>
    root.render(
      <QueryClientProvider client={queryClient}>
        <SurfaceContext value={surface}>
          <Empty start={start} />
        </SurfaceContext>
      </QueryClientProvider>,
    ),
  );
  const buttons = [...box.querySelectorAll('button')];
  expect(buttons.map((one) => one.textContent)).toEqual(surface.starters);
  act(() => buttons[1]!.click());
  expect(start.mock.calls).toEqual([['What is due?']]);
});

it('claims nothing while it does not know', () => {
  expect(shown()).not.toContain(first);
});
