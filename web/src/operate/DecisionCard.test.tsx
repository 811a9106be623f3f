import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { act } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { nothing, patch, patchAt, states } from './fixtures.ts';
import { stopsOf } from './Checks.tsx';
import { DecisionCard } from './DecisionCard.tsx';
import type { Patch } from '../api/changes.ts';

let root: Root;
let place: HTMLElement;

beforeEach(() => {
  (globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true;
  place = document.body.appendChild(document.createElement('div'));
  root = createRoot(place);
});
afterEach(() => {
  act(() => root.unmount());
  place.remove();
  vi.unstubAllGlobals();
});

function show(one: Patch): void {
  act(() => root.render(<DecisionCard patch={one} />));
}

const buttons = () => [...place.querySelectorAll('.decision > .flex-row button')].map((button) => button.textContent);
const press = (name: string) => act(() => [...place.querySelectorAll('button')].findLast((button) => button.textContent === name)!.click());

// Requirements: CFG-14
describe('the decision about a patch', () => {
  it.each<[string, Patch, string[], string]>([
    ['waits', patch, ['Approve', 'Reject'], 'waits for a decision'],
    ['is one’s own', states['own']!, ['Withdraw'], 'You proposed this yourself; another person decides.'],
    ['needs two', states['second']!, ['Reject'], '1 of 2 approvals'],
    ['is blocked', states['blocked']!, ['Reject'], 'Half of the runs fail with the change'],
    ['is approved', states['approved']!, ['Apply'], 'approved, to be applied'],
    ['has lost its base', states['moved']!, ['Rebase and re-run'], 'this was made for v7, and it is at v9'],
    ['is watched', states['watched']!, ['Give it all runs', 'Roll back to default_chat v7'], '10 % of new runs follow it.'],
    [
      'is watched, and one’s own',
      { ...states['watched']!, may: { ...states['watched']!.may!, roll_back: { ok: false, why: 'Nobody takes back a patch of their own: ask another administrator.' } } },
      ['Give it all runs'],
      'Nobody takes back a patch of their own',
    ],
    ['is invalid', states['invalid']!, [], 'It failed its checks'],
    ['is rejected', states['rejected']!, [], 'It makes every answer slower.'],
    ['is superseded', patchAt({ status: 'superseded', stage: 'settled', rebased_to: 43, may: nothing }), [], '#43'],
    ['has expired', patchAt({ status: 'expired', stage: 'settled', may: nothing }), [], 'Nobody decided in time.'],
  ])('%s', (_, one, acts, words) => {
    show(one);
    expect(buttons()).toEqual(acts);
    expect(place.textContent).toContain(words);
  });

  it('asks for the name of what the rehearsal warns of, and for a reason to reject', () => {
    show(states['warned']!);
    press('Approve');
    const confirm = place.querySelector<HTMLInputElement>('input[name=confirm]')!;
    expect([confirm.required, new RegExp(`^(?:${confirm.pattern})$`, 'v').test('default_chat'), new RegExp(`^(?:${confirm.pattern})$`, 'v').test('default')]).toEqual([true, true, false]);
    expect(place.querySelector<HTMLTextAreaElement>('textarea')!.required).toBe(false);
    press('Cancel');
    press('Reject');
    expect(place.querySelector<HTMLTextAreaElement>('textarea')!.required).toBe(true);
  });

  it('tells a refusal in the dialog and keeps it open', async () => {
    show(patch);
    press('Approve');
    const refusal = { status: 'error', error: { code: 'conflict', message: 'Patch 42 is rejected.' } };
    vi.stubGlobal('fetch', () => Promise.resolve(new Response(JSON.stringify(refusal), { status: 409 })));
    await act(async () => {
      place.querySelector('form')!.requestSubmit();
      await new Promise((done) => setTimeout(done, 0));
    });
    await vi.waitFor(() => expect(place.querySelector('[role=alert]')?.textContent).toBe('Patch 42 is rejected.'), 20_000);
    expect(place.querySelector('dialog')).not.toBeNull();
  });
});

describe('the rail of checks', () => {
  const stopStates = (one: Patch) => stopsOf(one).map((stop) => stop.state);

  it('shows what is under way and what waits for a person', () => {
    expect(stopStates(patchAt({ stage: 'checking', checks: patch.checks!.map((check) => ({ ...check, state: 'waiting' })) }))).toEqual(['live', ...Array.from({ length: 7 }, () => 'waiting')]);
    expect(stopStates(patch)).toEqual(['ok', 'ok', 'ok', 'ok', 'ok', 'wait', 'waiting', 'waiting']);
    expect(stopStates(states['watched']!)).toEqual(['ok', 'ok', 'ok', 'ok', 'ok', 'ok', 'ok', 'live']);
    expect(stopStates(states['invalid']!)).toEqual(['ok', 'failed', 'waiting', 'waiting', 'waiting']);
    expect(stopsOf(states['rejected']!).at(-1)).toMatchObject({ name: 'rejected', state: 'ended' });
  });
});
