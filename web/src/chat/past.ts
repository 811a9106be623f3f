// What a run did before its log begins. Hot state may be lost (ADR 0009): a
// question that outlives the program or the days a log is kept is told by the
// store alone. The steps that led to it are known to the run itself.

import { useMemo } from 'react';
import { useRun } from '../api/queries.ts';
import { traceOf } from '../api/runs.ts';
import type { Interrupt, Run, TraceStep } from '../api/types.ts';
import type { RailItem, Step } from './run.ts';

/** What only chooses the way or a value is no step anybody waited for. */
const silent: ReadonlySet<string> = new Set(['set', 'switch', 'end']);

/** The steps of a run that took their time, as far as its trace is known. */
export function tracedSteps(run: Run | undefined): TraceStep[] {
  return run ? (traceOf(run).steps ?? []).filter((step) => !silent.has(step.type)) : [];
}

/** The question a log begins with; null where it begins with a step, as one does that has forgotten nothing. */
export function firstAsked(items: RailItem[]): Interrupt | null {
  const first = items[0];
  return first?.kind === 'ask' ? first.interrupt : null;
}

/** The steps up to the question: those after it are in the log. A trace knows their nodes, not what they said. */
export function stepsUntil(asked: Interrupt, traced: TraceStep[]): Step[] {
  const until = Date.parse(asked.created_at);
  return traced
    .filter((step) => Date.parse(step.started) <= until)
    .map(({ node, visit }) => ({ kind: 'step', key: `${node}#${visit}`, node, label: node, done: true, docs: [], query: '' }));
}

const none: Step[] = [];

/** The steps of a run that its items have lost; none where they have lost nothing. */
export function usePast(runID: string | null, items: RailItem[], seen: boolean): Step[] {
  const asked = firstAsked(items);
  const run = useRun(runID, seen && asked !== null).data;
  return useMemo(() => (asked ? stepsUntil(asked, tracedSteps(run)) : none), [asked, run]);
}
