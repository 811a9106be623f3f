import { describe, expect, it } from 'vitest';
import type { Interrupt, Run, TraceStep } from '../api/types.ts';
import { firstAsked, stepsUntil, tracedSteps } from './past.ts';
import { emptyRun, fold } from './run.ts';

const asked: Interrupt = {
  interrupt_id: 'q1',
  run_id: 'r',
  conversation_id: 'c',
  interrupt_type: 'doc_choice',
  message: 'Which?',
  options: [],
  status: 'pending',
  created_at: '2026-11-22T20:06:00.831517Z',
};

function step(node: string, type: string, started: string): TraceStep {
  return { node, type, started: `2026-11-22T20:06:${started}Z`, visit: 1 };
}

const way = [
  step('understand', 'tool_call', '00.786481055'),
  step('route', 'switch', '00.803950028'),
  step('search', 'tool_call', '00.803950028'),
  step('choose', 'interrupt', '00.829406964'),
  step('answer', 'tool_call', '07.100000000'),
];

describe('what a run did before its log begins', () => {
  it('is missing where the log begins with a question, and only there', () => {
    const question = { seq: 0, kind: 'interrupt' as const, data: asked };
    expect(firstAsked(fold(emptyRun, question).items)).toEqual(asked);
    const whole = fold(fold(emptyRun, { seq: 1, kind: 'status', data: { node: 'understand', message: '', done: false } }), question);
    expect(firstAsked(whole.items)).toBeNull();
    expect(firstAsked([])).toBeNull();
  });

  it('is the steps up to the question, without those that only choose the way', () => {
    for (const trace of [way, { steps: way }]) {
      const steps = stepsUntil(asked, tracedSteps({ trace } as Run));
      expect(steps.map((one) => [one.node, one.done])).toEqual([
        ['understand', true],
        ['search', true],
        ['choose', true],
      ]);
    }
  });

  it('tells the visits of a node apart', () => {
    const twice = [way[0]!, { ...way[0]!, visit: 2 }];
    expect(new Set(stepsUntil(asked, twice).map((one) => one.key)).size).toBe(2);
  });

  it('is nothing where the run does not answer', () => {
    expect(tracedSteps(undefined)).toEqual([]);
    expect(tracedSteps({ trace: null } as Run)).toEqual([]);
  });
});
