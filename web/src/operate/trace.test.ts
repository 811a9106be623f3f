import { describe, expect, it } from 'vitest';
import { withLastKnown, type OperatedRun, type Step } from '../api/runs.ts';
import type { Awaited } from '../api/gen.ts';
import { standing, standsAt, stopsOf } from './trace.ts';

const began = '2026-11-20T10:00:00Z';
const asked = '2026-11-20T10:05:00Z';
const past = (node: string, more: Partial<Step> = {}): Step => ({ node, type: 'tool_call', visit: 1, attempt: 1, started: began, ended: began, outcome: 'ok', ...more });
const open = (node: string, more: Partial<Step> = {}): Step => ({ node, type: 'tool_call', visit: 1, started: began, ...more });

function run(status: OperatedRun['status'], steps: Step[], awaits: Awaited[] = []): OperatedRun {
  const live = ['running', 'waiting'].includes(status) ? { live: { known: true, awaits } } : {};
  return { id: 'r', kind: 'graph', status, workflow_id: 'graph:r', request_id: 'q', conversation_id: null, artifact: null, pins: [], result: null, error: null, temporal_url: null, trace: { steps }, created_at: began, ...live };
}

const states = (of: OperatedRun) => stopsOf(of).map((stop) => `${stop.node} ${stop.state}`);

// Requirements: GRAPH-26
describe('the way of a run that is not over', () => {
  it('has an open dot where a person must decide, and another where something is at work', () => {
    const both = run('running', [past('route'), open('all', { type: 'parallel' }), open('ask', { type: 'interrupt' }), open('find', { attempt: 2 })], [
      { node: 'ask', kind: 'ask', since: asked, says: 'Which one?' },
      { node: 'find', kind: 'call', attempt: 2, since: began },
    ]);
    expect(states(both)).toEqual(['route ok', 'all live', 'ask wait', 'find live']);
    const stops = stopsOf(both);
    expect([stops[2]!.since, stops[2]!.says, stops[3]!.says]).toEqual([asked, 'Which one?', undefined]);
    expect(standsAt(stops)).toBe(2);
    expect([...standing(stops)]).toEqual([
      ['all', 'live'],
      ['ask', 'wait'],
      ['find', 'live'],
    ]);
  });

  it('is a person’s to move where a tool or another workflow asks, and a group only waits with them', () => {
    expect(states(run('waiting', [past('find', { outcome: 'asked' }), open('find')], [{ node: 'find', kind: 'ask' }]))).toEqual(['find ok', 'find wait']);
    const child = [open('all', { type: 'map' }), open('child', { type: 'workflow', attempt: 1 })];
    expect(states(run('waiting', child, [{ node: 'child', kind: 'spawn' }]))).toEqual(['all waiting', 'child wait']);
    expect(states(run('running', child, [{ node: 'child', kind: 'spawn' }]))).toEqual(['all live', 'child live']);
  });

  it('shows the time before the next attempt, which is no step', () => {
    const stops = stopsOf(run('running', [past('find', { outcome: 'retried' })], [{ node: 'find', kind: 'wait', attempt: 1, since: asked }]));
    expect(stops.map((stop) => [stop.node, stop.type, stop.state, stop.pauses, stop.since])).toEqual([
      ['find', 'tool_call', 'warning', undefined, undefined],
      ['find', 'tool_call', 'live', true, asked],
    ]);
    expect(standsAt(stops)).toBe(1);
  });

  it('stays as it was last known while the run does not answer, and is whole when it is over', () => {
    const before = run('waiting', [open('ask', { type: 'interrupt' })], [{ node: 'ask', kind: 'ask', since: asked }]);
    const silent = { ...run('waiting', []), trace: null, live: { known: false, awaits: [] } };
    expect(withLastKnown(undefined, silent)).toBe(silent);
    const kept = withLastKnown(before, silent);
    expect([kept.live!.known, states(kept)]).toEqual([false, ['ask wait']]);
    expect(withLastKnown(kept, silent)).toEqual(kept);
    const over = run('done', [past('ask', { type: 'interrupt', attempt: 0 }), past('end')]);
    expect(withLastKnown(kept, over)).toBe(over);
    expect([states(over), standing(stopsOf(over)).size]).toEqual([['ask ok', 'end ok'], 0]);
  });
});
