// The trace of a run as its page shows it: what is behind it, and where it stands.

import { isOver, traceOf, type OperatedRun, type Step } from '../api/runs.ts';
import type { Awaited } from '../api/gen.ts';

/** How a stop is drawn: open and ochre only where a person must decide. */
export type StopState = 'ok' | 'failed' | 'warning' | 'waiting' | 'live' | 'wait';

export interface Stop extends Step {
  state: StopState;
  since?: string; // it is open
  pauses?: boolean; // nothing is done until it is tried again
  says?: string; // the question, or what the node is described as
}

/** The steps of a run, and behind them what it waits for that is no step: the time before the next attempt. */
export function stopsOf(run: OperatedRun): Stop[] {
  const steps = traceOf(run).steps ?? [];
  const awaits = isOver(run) ? [] : (run.live?.awaits ?? []);
  const stops = steps.map((step) => stopOf(step, run, awaits));
  const open = new Set(stops.filter((stop) => stop.since).map((stop) => stop.node));
  for (const one of awaits) {
    if (one.kind !== 'wait' && open.has(one.node)) continue;
    const last = steps.findLast((step) => step.node === one.node);
    stops.push({
      node: one.node,
      type: last?.type ?? one.kind,
      visit: last?.visit ?? 1,
      started: one.since ?? run.created_at,
      since: one.since ?? run.created_at,
      state: one.kind === 'ask' ? 'wait' : 'live',
      ...(one.kind === 'wait' ? { pauses: true } : {}),
      ...(one.says ? { says: one.says } : {}),
    });
  }
  return stops;
}

function stopOf(step: Step, run: OperatedRun, awaits: Awaited[]): Stop {
  if (step.outcome || step.ended) return { ...step, state: settled(step) };
  if (isOver(run)) return { ...step, state: 'waiting' };
  // A group is open as long as one of its branches is.
  if (step.type === 'parallel' || step.type === 'map') return { ...step, state: run.status === 'waiting' ? 'waiting' : 'live', since: step.started };
  // A question is no attempt at anything; every call is its first at least.
  const asks = !step.attempt;
  const one = awaits.find((other) => other.node === step.node && (other.kind === 'ask') === asks);
  // Another workflow that is waited for may be what asks.
  const decides = asks || (one?.kind === 'spawn' && run.status === 'waiting');
  return { ...step, state: decides ? 'wait' : 'live', since: one?.since ?? step.started, ...(one?.says ? { says: one.says } : {}) };
}

function settled(step: Step): StopState {
  switch (step.outcome) {
    case 'failed':
    case 'abandoned':
      return 'failed';
    case 'retried':
    case 'expired':
      return 'warning';
    case 'skipped':
      return 'waiting';
    default:
      return 'ok';
  }
}

/** The stop a reader came for: the one a person must decide, else one at work, else the last. */
export function standsAt(stops: Stop[]): number {
  for (const state of ['wait', 'live']) {
    const at = stops.findLastIndex((stop) => stop.state === state);
    if (at >= 0) return at;
  }
  return Math.max(0, stops.length - 1);
}

/** Where a run stands in the picture of its graph. */
export function standing(stops: Stop[]): Map<string, 'wait' | 'live'> {
  const found = new Map<string, 'wait' | 'live'>();
  for (const { node, state } of stops) if (state === 'wait' || (state === 'live' && !found.has(node))) found.set(node, state);
  return found;
}
