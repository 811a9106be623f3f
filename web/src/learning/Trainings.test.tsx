import { act } from 'react';
import { QueryClientProvider } from '@tanstack/react-query';
import { createRoot, type Root } from 'react-dom/client';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Router } from 'wouter';
import type { Training, TrainingStep } from '../api/learning.ts';
import { queryClient } from '../api/queries.ts';
import { setLanguage } from '../i18n/index.ts';
import { adapterFixture, trainingFixture } from './fixtures.ts';
import { Trainings } from './Trainings.tsx';

let root: Root;
let place: HTMLElement;
let asked: [method: string, path: string][];
let said: string;
let trainings: Training[];
let steps: TrainingStep[];

beforeEach(() => {
  Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });
  setLanguage('en');
  asked = [];
  said = '';
  steps = [];
  vi.stubGlobal('fetch', async (address: string, request: RequestInit) => {
    const method = request.method ?? 'GET';
    if (method !== 'GET') asked.push([method, address]);
    const data = address.endsWith('/metrics') ? { steps } : address.startsWith('/v1/training?') ? { data: trainings } : {};
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

const settled = () =>
  act(async () => {
    for (let quiet = 0; quiet < 3; quiet = queryClient.isFetching() > 0 ? 0 : quiet + 1) await new Promise((done) => setTimeout(done, 0));
  });

async function show(): Promise<void> {
  act(() =>
    root.render(
      <QueryClientProvider client={queryClient}>
        <Router>
          <Trainings adapters={[adapterFixture('a')]} nameOf={(one) => (one ? 'For all answers' : 'gone')} say={(text) => (said = text)} />
        </Router>
      </QueryClientProvider>,
    ),
  );
  await settled();
}

async function press(label: string): Promise<void> {
  act(() => place.querySelector<HTMLButtonElement>(`button[aria-label="${label}"]`)!.click());
  await settled();
}

const report = {
  outcome: 'rule', reasons: [], events: 6, p: 0.953, loss: { now: 2, new: 1 }, alignment: { now: 0.5, new: 1 }, perplexity: { now: 7, new: 3 }, accuracy: { now: 0.2, new: 0.4 },
} as const;

it('says where a training stands in the queue, and ends it in one press', async () => {
  trainings = [trainingFixture('t', { place: { ahead: 2, reason: '', until: null } })];
  await show();
  expect(place.querySelector('.training-stage')?.textContent).toBe('Waits');
  expect(place.textContent).toContain('2 trainings come before it.');
  await press('Cancel the training: For all answers');
  expect(asked).toEqual([['POST', '/v1/training/t/cancel']]);
  expect(said).toBe('The training was cancelled.');
});

it('draws the loss while it is trained, of what is imitated and of what is held out', async () => {
  trainings = [trainingFixture('t', { status: 'running', stage: 'fit', events: 14 })];
  steps = [
    { step: 1, of: 3, compared: false, loss: 2, held_out: 3, tok_s: 1200.4, eta: 65 },
    { step: 2, of: 3, compared: true, loss: 0.69, held_out: 2.5, tok_s: 1200.4, eta: 32 },
  ];
  await show();
  expect(place.querySelector('[role=status]')?.textContent).toContain('Step 2 of 3 · 1,200 tokens a second');
  expect(place.querySelectorAll('.plot-path')).toHaveLength(2);
  expect(place.querySelector('.plot-area')?.getAttribute('aria-label')).toBe('The loss went from 2 to 2.');
});

it('says why one failed, and that another may be tried', async () => {
  trainings = [
    trainingFixture('t', { status: 'failed', stage: 'failed', reason: 'The disk is full.', events: 14 }),
    trainingFixture('s', { status: 'succeeded', stage: 'done', version: 1, events: 12, report: { ...report, reasons: [] } }),
  ];
  await show();
  expect(place.querySelector('.training .problem')?.textContent).toBe('The disk is full.');
  expect(place.textContent).toContain('Tried on 6 answers of yours that were kept aside: better (P 0.95).');
  expect(place.textContent).toContain('Version 1');
  await press('Train again: For all answers');
  expect(asked).toEqual([['POST', '/v1/adapters/a/train']]);
});

it('says in German why one was kept, beside the figures it goes by, and why one failed', async () => {
  setLanguage('de');
  trainings = [
    trainingFixture('t', {
      status: 'succeeded', stage: 'kept', version: 2, report: { ...report, outcome: 'none', reasons: ['worse_elsewhere'] },
      reason: 'It is not better than what answers now, so it was kept and not handed in. Of 6 answers … Other texts got worse.',
      why: [
        { code: 'not_better', data: {}, text: 'It is not better than what answers now, so it was kept and not handed in.' },
        { code: 'judged', data: { answers: 6, loss: report.loss, alignment: report.alignment, p: 0.953 }, text: 'Of 6 answers …' },
        { code: 'worse_elsewhere', data: {}, text: 'Other texts got worse.' },
      ],
    }),
    trainingFixture('s', { status: 'failed', stage: 'failed', reason: 'It could not go on: no space.', why: [{ code: 'failed', data: { at: 'fit', reason: 'disk_full' }, text: 'It could not go on: no space.' }] }),
    trainingFixture('r', { status: 'failed', stage: 'failed', reason: 'The job needs 9 MiB.', why: [{ code: 'failed', data: { at: 'dataset', reason: '' }, text: 'The job needs 9 MiB.' }] }),
    trainingFixture('q', { status: 'failed', stage: 'failed', reason: 'An older program wrote this.' }),
  ];
  await show();
  const rows = [...place.querySelectorAll('.training')].map((row) => [...row.querySelectorAll('p')].map((p) => p.textContent));
  expect(rows[0]?.slice(2)).toEqual([
    'Er ist nicht besser als das, was jetzt antwortet; also wurde er behalten und nicht eingereicht. Andere Texte wurden schlechter.',
    'An 6 zurückgelegten Antworten von dir erprobt: nicht besser. ',
  ]);
  expect(rows[1]?.[2]).toBe('Das Training konnte nicht weitergehen; was bis zum letzten Zwischenstand getan war, ist aufgehoben. Der Datenträger ist voll.');
  expect(rows[2]?.[2]).toBe('Womit trainiert wird, konnte nicht zusammengestellt werden. Der Server schreibt dazu: The job needs 9 MiB.');
  expect(rows[3]?.[2]).toBe('An older program wrote this.');
});

it('says when one begins by itself where there is none', async () => {
  trainings = [];
  await show();
  expect(place.querySelector('.nothing')?.textContent).toContain('after eight liked or corrected answers');
});
