// Runs as those who operate the program see them: lists, and one run's trace
// with the reasons for it (GRAPH-18).

import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { ask } from './ask.ts';
import type * as gen from './gen.ts';

export type OperatedRun = gen.Run;
export type Step = gen.TraceStep;
export type Call = gen.TraceCall;
export type Routing = gen.Routed;
export type Trace = gen.Trace;

/** One run played over another version of its workflow, side by side. */
export type RehearsedRun = gen.RehearsedRun;

export interface RunFilter {
  kind: OperatedRun['kind'] | '';
  status: OperatedRun['status'] | '';
  artifact_id: string;
  all: boolean; // everybody's, for administrators
}

export const runKeys = {
  list: (filter: RunFilter) => ['runs', 'list', filter] as const,
  one: (id: string) => ['runs', 'one', id] as const,
};

const ended: ReadonlySet<string> = new Set(['done', 'failed', 'cancelled']);

export function isOver(run: { status: string }): boolean {
  return ended.has(run.status);
}

export function useRuns(filter: RunFilter) {
  return useInfiniteQuery({
    queryKey: runKeys.list(filter),
    queryFn: ({ pageParam, signal }) =>
      ask('listRuns', {
        query: { kind: filter.kind || null, status: filter.status || null, artifact_id: filter.artifact_id, all: filter.all || null, cursor: pageParam, limit: 50 },
        signal,
      }),
    initialPageParam: '',
    getNextPageParam: (last) => last.next_cursor || undefined,
  });
}

export function useOperatedRun(id: string) {
  return useQuery({
    queryKey: runKeys.one(id),
    queryFn: async ({ signal, client }) => {
      const { run } = await ask('run', { path: { id }, signal });
      return withLastKnown(client.getQueryData<OperatedRun>(runKeys.one(id)), run);
    },
    refetchInterval: (query) => (query.state.data && !isOver(query.state.data) ? 3_000 : false),
  });
}

/** A run that does not answer just now stands, as far as anybody knows, where it last stood. */
export function withLastKnown(before: OperatedRun | undefined, run: OperatedRun): OperatedRun {
  if (!run.live || run.live.known || !before?.live || !before.trace) return run;
  return { ...run, trace: before.trace, live: { ...before.live, known: false }, artifact: before.artifact, pins: before.pins };
}

/** The parts of a trace, whichever form it was written in. */
export function traceOf(run: OperatedRun): Trace {
  if (Array.isArray(run.trace)) return { steps: run.trace };
  return run.trace ?? {};
}

export const replay = (id: string, version: number) =>
  ask('rehearseRun', { path: { id }, body: { version } });
