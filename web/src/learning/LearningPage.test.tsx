import { act } from 'react';
import { QueryClientProvider } from '@tanstack/react-query';
import { createRoot, type Root } from 'react-dom/client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Router } from 'wouter';
import type { Cluster, Learning } from '../api/learning.ts';
import { queryClient } from '../api/queries.ts';
import { setLanguage } from '../i18n/index.ts';
import { adapterFixture, applied, clusterFixture, eventFixture, learningFixture, lessonFixture } from './fixtures.ts';
import LearningPage from './LearningPage.tsx';

let root: Root;
let place: HTMLElement;
let asked: [method: string, path: string, body: unknown][];
let server: { learning: Learning; clusters: Cluster[]; run: object };

/** What the server gives; a refusal is a status. */
function given(method: string, path: string): object | number {
  if (path === '/v1/learning' && method === 'GET') return server.learning;
  if (path === '/v1/clusters?scope=mine') return { data: server.clusters };
  if (path === '/v1/clusters?scope=global') return { data: [] };
  if (path.endsWith('/events')) return { data: [eventFixture(1), eventFixture(2, { notes: 'As a list.' })] };
  if (path === '/v1/learning/run') return { run_id: 'r' };
  if (path === '/v1/runs/r') return { run: server.run };
  if (path === '/v1/learning/forget') return { events: 4 };
  return {};
}

beforeEach(() => {
  Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });
  setLanguage('en');
  asked = [];
  server = { learning: learningFixture(), clusters: [], run: { id: 'r', kind: 'graph', status: 'running', pins: [] } };
  vi.stubGlobal('fetch', async (address: string, request: RequestInit) => {
    const method = request.method ?? 'GET';
    if (method !== 'GET') asked.push([method, address, request.body ? JSON.parse(String(request.body)) : null]);
    return Response.json({ status: 'ok', data: given(method, address), request_id: '' });
  });
  HTMLDialogElement.prototype.showModal = function showModal() {
    this.open = true;
  };
  place = document.body.appendChild(document.createElement('div'));
  root = createRoot(place);
});
afterEach(() => {
  act(() => root.unmount());
  place.remove();
  queryClient.clear();
  vi.unstubAllGlobals();
});

/** Waits until nothing is asked for, and what came of it is drawn. */
const settled = () =>
  act(async () => {
    for (let quiet = 0; quiet < 3; quiet = queryClient.isFetching() > 0 ? 0 : quiet + 1) await new Promise((done) => setTimeout(done, 0));
  });

async function show(): Promise<void> {
  act(() =>
    root.render(
      <QueryClientProvider client={queryClient}>
        <Router>
          <LearningPage />
        </Router>
      </QueryClientProvider>,
    ),
  );
  await settled();
}

function button(name: string, among: ParentNode = place): HTMLButtonElement {
  const found = [...among.querySelectorAll('button')].find((one) => (one.getAttribute('aria-label') ?? one.textContent) === name);
  if (!found) throw new Error(`no button ${name}`);
  return found;
}

async function press(name: string, among?: ParentNode): Promise<void> {
  act(() => button(name, among).click());
  await settled();
}

const dialog = () => place.querySelector('dialog')!;
const text = (of: string) => place.querySelector(of)?.textContent ?? '';

describe('what was learnt', () => {
  const one = lessonFixture('1', { text: 'Be short.', sources: [eventFixture(1), eventFixture(2)] });

  it('is told sentence by sentence, with how it stands and what it came from', async () => {
    server.learning = learningFixture({ lessons: [one], adapters: [adapterFixture('a', { patch: applied })] });
    await show();
    expect(text('.lesson-text')).toBe('Be short.');
    expect(text('.standing')).toBe('Followed');
    expect(text('.lesson summary')).toBe('From 2 notes');
    expect(text('.lesson .events')).toContain('Too long.');
    expect(place.querySelector('.lesson .events a')?.getAttribute('href')).toBe('/c/c');
  });

  it('says that it was put to use by rule, that nothing was tried where nothing could be, and is undone in one press', async () => {
    server.learning = learningFixture({ lessons: [one], adapters: [adapterFixture('a', { patch: applied })] });
    await show();
    expect(text('.lesson-change')).toContain('Put to use without asking');
    expect(text('.lesson-change')).toContain('Not tried: no language model is configured.');
    server.learning = learningFixture({ lessons: [{ ...one, followed: false }], adapters: [adapterFixture('a', { patch: { ...applied, status: 'rolled_back', may_roll_back: false } })] });
    await press('Undo what was put to use: For all answers');
    expect(asked.map(([method, path]) => [method, path])).toEqual([['POST', '/v1/config/patches/7/rollback']]);
    expect(text('.standing')).toBe('Not followed: you took it back');
    expect(text('.learning-said')).toBe('Undone. Answers are as before.');
  });

  it('says what came of a trial', async () => {
    const justification = 'What you said of answers: 1 lesson from 14 events. Of 8 questions that were kept aside, answers were better with it for 5, worse for 1 and alike for 2 (P 0.97).';
    server.learning = learningFixture({ generative: true, lessons: [one], adapters: [adapterFixture('a', { patch: { ...applied, justification } })] });
    await show();
    expect(text('.lesson-change')).toContain('Tried on 8 questions of yours: 5 answers better, 1 worse, 2 alike.');
  });

  it('leads to the decision where one is open', async () => {
    server.learning = learningFixture({ lessons: [{ ...one, followed: false }], adapters: [adapterFixture('a', { patch: { ...applied, status: 'pending', by_rule: false, may_decide: true, may_roll_back: false } })] });
    await show();
    expect(text('.standing')).toBe('Waits for your decision');
    expect(place.querySelector('.lesson-change a')?.getAttribute('href')).toBe('/operate/patches/7');
    expect(place.querySelector('.lesson-change button')).toBeNull();
  });

  it('is switched off, reworded and forgotten', async () => {
    server.learning = learningFixture({ lessons: [one] });
    await show();
    act(() => place.querySelector<HTMLInputElement>('.lesson input')!.click());
    await settled();
    await press('Reword “Be short.”');
    const field = place.querySelector<HTMLInputElement>('.lesson .inline-form input')!;
    expect(field.maxLength).toBe(160);
    act(() => {
      Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')!.set!.call(field, 'Be very short.');
      field.dispatchEvent(new Event('input', { bubbles: true }));
    });
    await press('Save');
    await press('Forget “Be short.”');
    await press('Forget', dialog());
    expect(asked).toEqual([
      ['PATCH', '/v1/learning/lessons/1', { state: 'off' }],
      ['PATCH', '/v1/learning/lessons/1', { text: 'Be very short.' }],
      ['DELETE', '/v1/learning/lessons/1', null],
    ]);
  });

  it('leaves out what somebody once said', async () => {
    server.learning = learningFixture({ lessons: [one] });
    await show();
    await press('Leave out “Too long.”');
    expect(asked).toEqual([['PATCH', '/v1/learning/events/1', { excluded: true }]]);
  });
});

describe('where nothing was learnt', () => {
  it.each([
    ['says what to do', learningFixture(), 'Press the thumb below an answer.'],
    ['says that what was said is still to be read', learningFixture({ waiting: 1 }), 'What you said has not been read yet.'],
  ])('%s', async (_, learning, words) => {
    server.learning = learning;
    await show();
    expect(text('.lessons')).toContain(words);
  });

  it.each([
    ['the server', learningFixture({ mode: 'off' }), 'switched off on this server'],
    ['the person', learningFixture({ settings: { personal: false, shared: false, by_rule: true } }), 'You have switched learning off.'],
  ])('because %s does not want it, it says so and does not offer to', async (_, learning, words) => {
    server.learning = learning;
    await show();
    expect(text('.learning-off')).toContain(words);
    expect(button('Learn now').disabled).toBe(true);
  });
});

describe('learning now', () => {
  it('is followed to its end, and says what is new', async () => {
    server.learning = learningFixture({ waiting: 3 });
    await show();
    await press('Learn now');
    expect(asked).toEqual([['POST', '/v1/learning/run', null]]);
    expect(place.querySelector('progress')).not.toBeNull();
    expect(button('Learn now').getAttribute('aria-disabled')).toBe('true');
    await press('Learn now');
    expect(asked).toHaveLength(1);
    server.run = { ...server.run, status: 'done' };
    server.learning = learningFixture({ lessons: [lessonFixture('1')], last_run: { run_id: 'r', status: 'done', at: '2026-11-27T01:00:00Z' } });
    await act(() => queryClient.invalidateQueries({ queryKey: ['runs'] }));
    await settled();
    expect(place.querySelector('progress')).toBeNull();
    expect(text('.learn-now [role=status]')).toContain('Done. 1 lesson is new.');
  });

  it('is shown where it was begun elsewhere', async () => {
    server.learning = learningFixture({ last_run: { run_id: 'r', status: 'running', at: '2026-11-27T01:00:00Z' } });
    await show();
    expect(place.querySelector('progress')).not.toBeNull();
    expect(place.querySelector('.learn-progress a')?.getAttribute('href')).toBe('/operate/runs/r');
  });
});

describe('situations', () => {
  beforeEach(() => {
    server.clusters = [clusterFixture('a'), clusterFixture('b')];
  });

  it('are renamed, merged and let go of', async () => {
    await show();
    expect([...place.querySelectorAll('.situation .situation-name')].map((one) => one.textContent)).toEqual(['Situation a', 'Situation b']);
    await press('Rename “Situation a”');
    dialog().querySelector<HTMLInputElement>('input[name=label]')!.value = ' Invoices ';
    await press('Save', dialog());
    await press('Merge “Situation a”');
    await press('Merge', dialog());
    await press('“Situation b” is not a situation');
    await press('Let go', dialog());
    expect(asked).toEqual([
      ['PATCH', '/v1/clusters/a', { label: 'Invoices', description: '' }],
      ['POST', '/v1/clusters/a/merge', { into: 'b' }],
      ['DELETE', '/v1/clusters/b', null],
    ]);
  });

  it('let what does not belong be split off, but not all of it', async () => {
    await show();
    const details = place.querySelector<HTMLDetailsElement>('.situation details')!;
    act(() => {
      details.open = true;
      details.dispatchEvent(new Event('toggle'));
    });
    await settled();
    const [first, second] = place.querySelectorAll<HTMLInputElement>('.situation .events input');
    expect(button('Split off what you pick').disabled).toBe(true);
    act(() => first!.click());
    act(() => second!.click());
    expect(button('Split 2 off').disabled).toBe(true);
    act(() => first!.click());
    await press('Split 1 off');
    expect(asked).toEqual([['POST', '/v1/clusters/a/split', { event_ids: [2] }]]);
  });
});

it('keeps what is allowed, and asks before it forgets everything', async () => {
  server.learning = learningFixture({ lessons: [lessonFixture('1')], adapters: [adapterFixture('a')] });
  server.clusters = [clusterFixture('a')];
  await show();
  const [personal, , shared] = place.querySelectorAll<HTMLInputElement>('.choice-with input');
  act(() => shared!.click());
  await settled();
  act(() => personal!.click());
  await settled();
  await press('Forget everything');
  expect(asked).toEqual([
    ['PATCH', '/v1/learning', { shared: true }],
    ['PATCH', '/v1/learning', { personal: false }],
  ]);
  expect([...dialog().querySelectorAll('li')].map((one) => one.textContent)).toEqual([
    'every thumb and note under your answers',
    '1 lesson',
    '1 situation',
    '1 adapter, which carried them',
  ]);
  await press('Forget everything', dialog());
  expect(asked.at(-1)).toEqual(['POST', '/v1/learning/forget', null]);
  expect(text('.learning-said')).toBe('Forgotten, with 4 thumbs and notes.');
});
