import { act } from 'react';
import { QueryClientProvider } from '@tanstack/react-query';
import { createRoot, type Root } from 'react-dom/client';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Training } from '../api/learning.ts';
import { queryClient } from '../api/queries.ts';
import { setLanguage } from '../i18n/index.ts';
import { trainingFixture } from '../learning/fixtures.ts';
import TrainingPage from './TrainingPage.tsx';

let root: Root;
let place: HTMLElement;
let asked: string[];
let trainings: Training[];

beforeEach(() => {
  Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });
  setLanguage('en');
  asked = [];
  vi.stubGlobal('fetch', async (address: string) => {
    asked.push(address);
    const data = address.endsWith('/metrics') ? { steps: [{ step: 2, of: 3, compared: false, loss: 2, held_out: 2.5, tok_s: 1200.4, eta: 32 }] } : { data: trainings };
    return Response.json({ status: 'ok', data, request_id: '' });
  });
  place = document.body.appendChild(document.createElement('div'));
  root = createRoot(place);
});
afterEach(() => {
  act(() => root.unmount());
  place.remove();
  queryClient.clear();
  vi.unstubAllGlobals();
});

async function show(): Promise<void> {
  act(() =>
    root.render(
      <QueryClientProvider client={queryClient}>
        <TrainingPage />
      </QueryClientProvider>,
    ),
  );
  await act(async () => {
    for (let quiet = 0; quiet < 3; quiet = queryClient.isFetching() > 0 ? 0 : quiet + 1) await new Promise((done) => setTimeout(done, 0));
  });
}

const ann = { id: 'u1', name: 'Ann' };

it('an administrator sees what runs with its curve, what waits in its order, and what the gate found', async () => {
  trainings = [
    trainingFixture('w2', { user: { id: 'u3', name: 'Cid' }, place: { ahead: 1, reason: '', until: null } }),
    trainingFixture('w1', { user: { id: 'u2', name: 'Bob' }, place: { ahead: 0, reason: '', until: null } }),
    trainingFixture('r', { user: ann, status: 'running', stage: 'fit', events: 14 }),
    trainingFixture('d', {
      user: ann,
      kind: 'distil',
      status: 'succeeded',
      stage: 'kept',
      version: 2,
      reason: 'It answers worse.',
      report: {
        outcome: 'none', reasons: ['wishes_kept_less'], events: 8, p: 0.91, loss: { now: 1.08, new: 1.07 }, alignment: { now: 0.25, new: 0.75 }, perplexity: { now: 3, new: 3 }, accuracy: { now: 0.7, new: 0.7 },
        kept: { prompts: 8, of: 8, base: 0, now: 7, new: 2, kinds: ['begins'] },
      },
    }),
  ];
  await show();
  expect(asked[0]).toBe('/v1/training?everybody=true&limit=50');
  expect([...place.querySelectorAll('.training-list')].map((list) => [list.getAttribute('aria-label'), ...[...list.querySelectorAll('.training-name')].map((one) => one.textContent)])).toEqual([
    ['Running', 'Ann'],
    ['In the queue', 'Bob', 'Cid'],
    ['Ended', 'Ann'],
  ]);
  expect(place.querySelector('[role=status]')?.textContent).toContain('Step 2 of 3 · 1,200 tokens a second');
  expect(place.textContent).toContain('Gate: 8 held out; loss 1.07, before 1.08; alignment 0.75, before 0.25; P 0.91.');
  expect(place.textContent).toContain('in 2 of 8 checks; before in 7, and without any adapter in 0.');
  expect(place.textContent).toContain('by merging two adapters');
});

it('says when nothing has been trained', async () => {
  trainings = [];
  await show();
  expect(place.querySelector('.nothing')?.textContent).toBe('Nothing has been trained here yet.');
});
