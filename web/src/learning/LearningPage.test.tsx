import { act } from 'react';
import { QueryClientProvider } from '@tanstack/react-query';
import { createRoot, type Root } from 'react-dom/client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Router } from 'wouter';
import type { Adapter, AdapterVersion, Cluster, Comparison, Learning } from '../api/learning.ts';
import { queryClient } from '../api/queries.ts';
import { setLanguage } from '../i18n/index.ts';
import { adapterFixture, applied, clusterFixture, comparisonFixture, eventFixture, learningFixture, lessonFixture, rowFixture, trialFixture, versionFixture } from './fixtures.ts';
import LearningPage from './LearningPage.tsx';

let root: Root;
let place: HTMLElement;
let asked: [method: string, path: string, body: unknown][];
let server: { learning: Learning; clusters: Cluster[]; run: object; adapters: Adapter[]; versions: AdapterVersion[]; comparison: Comparison };

/** What the server gives; a refusal is a status. */
function given(method: string, path: string): object | number {
  if (path === '/v1/learning' && method === 'GET') return server.learning;
  if (path === '/v1/clusters?scope=mine') return { data: server.clusters };
  if (path === '/v1/clusters?scope=global') return { data: [] };
  if (path.endsWith('/events')) return { data: [eventFixture(1), eventFixture(2, { notes: 'As a list.' })] };
  if (path === '/v1/learning/run') return { run_id: 'r' };
  if (path === '/v1/runs/r') return { run: server.run };
  if (path === '/v1/learning/forget') return { events: 4 };
  if (path === '/v1/adapters') return { data: server.adapters };
  if (path === '/v1/adapters/a') return { ...server.adapters[0], versions: server.versions };
  if (path === '/v1/adapters/a/compare') return { run_id: 'r' };
  if (path === '/v1/adapters/a/compare/r') return server.comparison;
  return {};
}

beforeEach(() => {
  Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });
  setLanguage('en');
  asked = [];
  server = { learning: learningFixture(), clusters: [], run: { id: 'r', kind: 'graph', status: 'running', pins: [] }, adapters: [], versions: [], comparison: comparisonFixture() };
  history.replaceState(null, '', '/settings/learning');
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
    const gate = { state: 'tried', held: 8, better: 5, worse: 1, alike: 2, p: 0.97 } as const;
    server.learning = learningFixture({ generative: true, lessons: [one], adapters: [adapterFixture('a', { patch: { ...applied, gate } })] });
    await show();
    expect(text('.lesson-change')).toContain('Tried on 8 questions of yours: 5 answers better, 1 worse, 2 alike.');
  });

  it('says how a version on trial goes, and uses it everywhere in one press', async () => {
    const trial = trialFixture({ disliked: { before: { value: 0.25, low: 0.1, high: 0.5 }, after: { value: 0.5, low: 0.2, high: 0.8 } } });
    const patch = { ...applied, trial };
    server.learning = learningFixture({ lessons: [one], adapters: [adapterFixture('a', { patch })] });
    server.adapters = [rowFixture('a', { patch })];
    await show();
    expect(text('.lesson-change .on-trial')).toContain('On trial in half of your conversations');
    expect(text('.adapter .on-trial dl')).toContain('7 as before, 9 with it');
    expect(text('.adapter .on-trial dl')).toContain('25 % as before, 50 % with it');
    server.adapters = [rowFixture('a', { patch: applied })];
    server.learning = learningFixture({ lessons: [one], adapters: [adapterFixture('a', { patch: applied })] });
    await press('Use it everywhere');
    expect(asked.map(([method, path]) => [method, path])).toEqual([['POST', '/v1/config/patches/7/promote']]);
    expect(place.querySelector('.on-trial')).toBeNull();
    expect(text('.learning-said')).toBe('All conversations take it now.');
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

describe('adapters', () => {
  it('are shown with what they carry, how they were used, and their versions', async () => {
    server.adapters = [rowFixture('a', { cluster_id: 'k', situation: 'Proofs', weights: 2, patch: { ...applied, trial: trialFixture() } })];
    server.versions = [versionFixture(4, { state: 'trial', weights: 2, base: 'base', peft: true, patch_id: 7 }), versionFixture(3, { state: 'before', marked: true }), versionFixture(2, { state: 'rolled_back', patch_id: 6, marked: true })];
    await show();
    const row = place.querySelector('.adapter')!;
    expect(row.textContent).toContain('When it is about: Proofs');
    expect(row.querySelector('.facts-line')!.textContent).toBe('in useweights v2used 16 timesliked');
    expect(row.querySelector('.on-trial')).not.toBeNull();
    expect(row.querySelector('.versions')).toBeNull();
    const details = row.querySelector('details')!;
    details.open = true;
    act(() => details.dispatchEvent(new Event('toggle')));
    await settled();
    expect([...row.querySelectorAll('.versions > li')].map((one) => one.querySelector('.version-state')!.textContent)).toEqual(['on trial', 'the others take it', 'taken back']);
    expect([...row.querySelectorAll('.versions > li')].map((one) => one.textContent.includes('was taken back. It serves'))).toEqual([false, true, false]);
    expect(row.querySelectorAll('[aria-label="Take the weights v2 along"]')).toHaveLength(1);
    await press('Undo what was put to use: When it is about: Proofs', row);
    expect(asked.map(([method, path]) => [method, path])).toEqual([['POST', '/v1/config/patches/7/rollback']]);
  });

  it('says where there is none yet', async () => {
    await show();
    expect(text('.adapters .nothing')).toContain('There is none yet');
  });
});

describe('a comparison', () => {
  beforeEach(() => {
    server.learning = learningFixture({ generative: true });
  });

  it('is offered where somebody can answer', async () => {
    server.learning = learningFixture();
    server.adapters = [rowFixture('a')];
    await show();
    expect(place.querySelector('[aria-expanded]')).toBeNull();
  });

  async function asking(): Promise<void> {
    server.adapters = [rowFixture('a')];
    await show();
    await press('Compare answers with “For all answers” and without');
    const field = place.querySelector<HTMLTextAreaElement>('.compare textarea')!;
    field.value = 'Why?';
    act(() => place.querySelector<HTMLFormElement>('.compare form')!.requestSubmit());
    await settled();
    await settled(); // the answers are asked for once it has begun
  }

  it('shows both answers, and which is which only after the choice', async () => {
    await asking();
    expect(asked).toEqual([['POST', '/v1/adapters/a/compare', { question: 'Why?' }]]);
    expect(location.search).toBe('?compare=a%2Fr');
    expect([...place.querySelectorAll('.compare-text')].map((one) => one.textContent)).toEqual(['One.', 'Two.']);
    expect(place.querySelector('.compare-was')).toBeNull();
    server.comparison = comparisonFixture({ status: 'done', choice: 'second', told: { with: 'second', lessons: [{ id: 'l', text: 'Be short.' }] } });
    await press('The second answer is better');
    expect(asked[1]).toEqual(['POST', '/v1/adapters/a/compare/r', { choice: 'second' }]);
    expect([...place.querySelectorAll('.compare-was')].map((one) => one.textContent)).toEqual(['Without', 'With what was learnt']);
    expect(text('.compare-told')).toContain('You chose the answer with what was learnt');
    expect(text('.compare-lessons')).toBe('Be short.');
    expect(place.querySelector('.compare-answer[data-chosen]')!.textContent).toContain('Two.');
    expect(place.querySelector('[aria-label="The first answer is better"]')).toBeNull();
  });

  it('is found again by its address, and tells why there is no answer', async () => {
    server.adapters = [rowFixture('a')];
    server.comparison = comparisonFixture({ status: 'failed', first: null, second: null, problem: 'Your budget is used up.' });
    history.replaceState(null, '', '/settings/learning?compare=a/r');
    await show();
    await settled();
    expect(text('.compare [role=alert]')).toBe('It was not answered. Your budget is used up.');
    await press('Another question');
    expect(location.search).toBe('');
    expect(place.querySelector('.compare textarea')).not.toBeNull();
  });
});
