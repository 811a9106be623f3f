// Runs as those who operate the program see them: lists, and one run's way
// with the reasons for it (GRAPH-18).

import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { call } from './call.ts';
import type { Person } from './changes.ts';
import type { Live } from './gen.ts';
import type { Page, RunProblem } from './types.ts';

export interface Pin {
  id: string;
  name: string;
  version: number;
}

export interface Step {
  node: string;
  type: string;
  effect?: string;
  visit: number;
  attempt?: number;
  started: string;
  ended?: string;
  outcome?: string;
  detail?: string;
  condition?: string; // the when that chose the way
  values?: Record<string, unknown>; // what it was true of
}

export interface Call {
  effect: string;
  attempt: number;
  node: string;
  tool: string;
  arguments?: unknown;
  result?: unknown;
  status: string;
  error?: string;
  ms: number;
}

export interface Routing {
  policy: Pin | null;
  adapters: string[] | null;
  gates: Record<string, number> | null;
  rules: { rule: string; fired: boolean; adapters?: string[]; weights?: Record<string, number>; kept?: string[]; error?: string; note?: string }[] | null;
  left?: { id: string; reason: string; weight: number }[] | null;
}

export interface Way {
  path?: { name: string; note?: string; ms?: number }[] | null; // what came before the graph
  routing?: Routing | null;
  steps?: Step[] | null;
  calls?: Call[] | null;
}

export interface OperatedRun {
  id: string;
  kind: string;
  status: string;
  workflow_id: string;
  conversation_id: string | null;
  artifact: Pin | null;
  pins: Pin[] | null;
  result?: unknown;
  trace?: Way | Step[] | null;
  live?: Live;
  error?: RunProblem | null;
  created_at: string;
  started_at?: string | null;
  ended_at?: string | null;
  temporal_url?: string | null;
  recorded?: boolean;
  patch_id?: number | null; // the patch it takes on its way
  user?: Person | null;
  limited?: boolean; // another person's: only its way is told
}

export interface RunFilter {
  kind: string;
  status: string;
  artifact_id: string;
  all: boolean; // everybody's, for administrators
}

/** One run played over another version of its workflow, side by side. */
export interface Played {
  old: string[] | null;
  new: string[] | null;
  part: number;
  outcome?: { status: string; code?: string; node?: string; message: string } | null;
  divergences?: { node: string; effect: string; message: string }[] | null;
  steps?: Step[] | null;
}

export interface ArtifactVersion {
  version: number;
  schema: unknown;
  created_by: string;
  change_note: string;
  created_at: string;
}

export const runKeys = {
  list: (filter: RunFilter) => ['runs', 'list', filter] as const,
  one: (id: string) => ['runs', 'one', id] as const,
  versions: (artifact: string) => ['artifact-versions', artifact] as const,
};

const ended: ReadonlySet<string> = new Set(['done', 'failed', 'cancelled']);

export function isOver(run: { status: string }): boolean {
  return ended.has(run.status);
}

export function useRuns(filter: RunFilter) {
  return useInfiniteQuery({
    queryKey: runKeys.list(filter),
    queryFn: ({ pageParam, signal }) =>
      call<Page<OperatedRun>>('/v1/runs', {
        query: { ...filter, all: filter.all ? 'true' : '', cursor: pageParam, limit: 50 },
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
      const { run } = await call<{ run: OperatedRun }>(`/v1/runs/${id}`, { signal });
      return remembering(client.getQueryData<OperatedRun>(runKeys.one(id)), run);
    },
    refetchInterval: (query) => (query.state.data && !isOver(query.state.data) ? 3_000 : false),
  });
}

/** A run that does not answer just now stands, as far as anybody knows, where it last stood. */
export function remembering(before: OperatedRun | undefined, run: OperatedRun): OperatedRun {
  if (!run.live || run.live.known || !before?.live || !before.trace) return run;
  return { ...run, trace: before.trace, live: { ...before.live, known: false }, artifact: before.artifact, pins: before.pins };
}

/** The parts of a trace, whichever form it was written in. */
export function wayOf(run: OperatedRun): Way {
  if (Array.isArray(run.trace)) return { steps: run.trace };
  return run.trace ?? {};
}

export function useVersions(artifact: string | null | undefined) {
  return useQuery({
    queryKey: runKeys.versions(artifact ?? ''),
    queryFn: async ({ signal }) => (await call<Page<ArtifactVersion>>(`/v1/artifacts/${artifact}/versions`, { signal })).data,
    enabled: Boolean(artifact),
    staleTime: 30_000,
  });
}

export const replay = (id: string, version: number) =>
  call<Played>(`/v1/runs/${id}/rehearse`, { method: 'POST', body: { version } });
