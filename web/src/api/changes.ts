// ConfigOps: proposed changes on their way from a proposal to a version, and
// back if they were wrong (001 §10).

import { useQuery } from '@tanstack/react-query';
import { call } from './call.ts';
import { queryClient } from './queries.ts';
import type * as gen from './gen.ts';
import type { Page } from './types.ts';

export type PatchStatus =
  | 'pending'
  | 'approved'
  | 'applied'
  | 'rejected'
  | 'invalid'
  | 'expired'
  | 'withdrawn'
  | 'superseded'
  | 'rolled_back';

export type PatchStage = 'checking' | 'rehearsing' | 'deciding' | 'applying' | 'watching' | 'settled';

/** What a rehearsal means for a decision, the gravest last. Empty: there was none yet. */
export type Verdict = '' | 'pass' | 'warn' | 'second' | 'block';

/** What becomes of an effect the record does not hold. */
export type Unknowns = 'unknown' | 'live' | 'scripted';

export interface Person {
  id: string;
  name: string;
}

export interface Two {
  before: number;
  after: number;
}

/** One recorded run, node by node on both sides. */
export interface Example {
  run_id: string;
  at: string;
  old: string[] | null;
  new: string[] | null;
  part: number; // the first place that differs; -1: none does
  message: string;
}

export interface Report {
  sample: {
    wanted: number;
    taken: number;
    population: number;
    people: number;
    oldest?: string;
    newest?: string;
    strata: { name: string; population: number; taken: number }[] | null;
    unreadable?: number;
  };
  base_version: number;
  after_version?: number;
  moved: number;
  unknown: number;
  failed: Two;
  cut: Two;
  questions: Two;
  new_questions: number;
  vanished_questions: number;
  model_calls: Two;
  tool_calls: Two;
  by_tool: Record<string, Two> | null;
  cost_usd: Two;
  median_ms: Two;
  gates: Record<string, Two> | null;
  mean_gates: Two;
  coverage: {
    nodes: number;
    nodes_seen: number;
    branches: number;
    branches_seen: number;
    unseen_nodes: string[] | null;
    unseen_branches: string[] | null;
  };
  places: { after: string; old: string; new: string; runs: number }[] | null;
  examples: Record<string, Example[]> | null;
  verdict: Verdict;
  reasons: string[] | null;
  took_ms: number;
}

export interface Operation {
  op: string;
  path: string;
  from?: string;
  value?: unknown;
}

export interface Change {
  artifact_id: string;
  kind: string;
  type: string; // an older name of the kind
  name: string;
  title?: string;
  base_version: number;
  current_version: number;
  patch?: Operation[] | null;
  before?: unknown;
  after?: unknown; // null when the operations do not apply
  creates: boolean;
  applied_version?: number;
  report?: Report | null;
}

export interface Problem {
  path: string; // JSON pointer into the document
  message: string;
  hint?: string;
}

export interface Check {
  name: string;
  state: 'waiting' | 'ok' | 'warning' | 'failed';
  problems: Problem[] | null;
  at?: string | null;
}

export interface Trial {
  share: number;
  hours: number;
  roll_back: boolean;
}

export interface PatchEvent {
  at: string;
  by: Person | null;
  what: string;
  reason: string;
  data?: unknown;
}

export interface Permission {
  ok: boolean;
  why: string;
}

export type Act = 'approve' | 'reject' | 'apply' | 'roll_back' | 'promote' | 'withdraw' | 'rebase' | 'rehearse';

export interface Patch {
  id: number;
  status: PatchStatus;
  stage: PatchStage;
  proposer: string;
  proposed_by: Person | null;
  justification: string;
  changes: Change[];
  checks?: Check[] | null;
  verdict: Verdict;
  reasons?: string[] | null;
  needs: number;
  approvals?: { by: Person; at: string; reason: string }[] | null;
  trial?: Trial | null;
  unknown?: Unknowns; // as it was rehearsed
  rebased_from?: number | null;
  rebased_to?: number | null;
  run_id?: string;
  temporal_url?: string | null;
  created_at: string;
  decided_at?: string | null;
  applied_at?: string | null;
  expires_at?: string | null;
  events?: PatchEvent[] | null;
  may?: Partial<Record<Act, Permission>>;
}

/** A figure with what it may be as well, given how few runs there were. */
export interface Measured {
  value: number;
  low: number;
  high: number;
}

export interface WatchRow {
  name: string;
  before: Measured | null;
  after: Measured | null;
  unit: 'share' | 'usd' | 'ms' | 'count';
  worse: boolean | null; // null: too few runs to tell
}

export interface Watch {
  versions: Two;
  since: string;
  until?: string | null;
  runs: Two;
  rows: WatchRow[] | null;
  rule?: { when: string; say: string; met: boolean }[] | null;
  trial?: Trial | null;
}

/** A question put to whoever runs the installation; one of a patch names it. */
export type OpenQuestion = gen.Interrupt;

export const changeKeys = {
  all: ['patches'] as const,
  list: (status: string, artifact: string) => ['patches', 'list', status, artifact] as const,
  one: (id: string) => ['patches', 'one', id] as const,
  watch: (id: string) => ['patches', 'watch', id] as const,
  questions: ['patches', 'questions'] as const,
};

const patches = '/v1/config/patches';
const most = 100; // patches in one list

async function list(status: string, artifact: string, signal: AbortSignal): Promise<Patch[]> {
  return (await call<Page<Patch>>(patches, { query: { status, artifact_id: artifact, limit: most }, signal })).data;
}

/** Patches of one status; empty: of every one. Newest first. */
export function usePatches(status: PatchStatus | '', artifact = '', enabled = true) {
  return useQuery({
    queryKey: changeKeys.list(status, artifact),
    queryFn: ({ signal }) => list(status, artifact, signal),
    refetchInterval: 5_000,
    enabled,
  });
}

/** Where a patch has further to go: it is checked, waits for a person, or is watched. */
export function unsettled(patch: Patch): boolean {
  return patch.status === 'pending' || patch.status === 'approved' || (patch.status === 'applied' && patch.stage === 'watching');
}

/** Whether a person has to do something for it to go on. */
export function waits(patch: Patch): boolean {
  return patch.stage === 'deciding' || patch.stage === 'applying';
}

/** Everything that is not settled, oldest first. */
export function useOpenPatches(enabled = true) {
  return useQuery({
    queryKey: changeKeys.list('open', ''),
    queryFn: async ({ signal }) => {
      const lists = await Promise.all((['pending', 'approved', 'applied'] as const).map((status) => list(status, '', signal)));
      return lists.flat().filter(unsettled).toSorted((a, b) => a.created_at.localeCompare(b.created_at));
    },
    refetchInterval: 5_000,
    enabled,
  });
}

/** Open questions that no patch asks: those are decided on the patch's page. */
export function useOpenQuestions(enabled = true) {
  return useQuery({
    queryKey: changeKeys.questions,
    queryFn: async ({ signal }) =>
      (await call<Page<OpenQuestion>>('/v1/interrupts', { signal })).data.filter((one) => !one.patch_id).toSorted((a, b) => a.created_at.localeCompare(b.created_at)),
    refetchInterval: 5_000,
    enabled,
  });
}

/** How soon to look again: at once while machines work, seldom while people think. */
function pace(patch: Patch | undefined): number | false {
  if (!patch) return false;
  if (patch.stage === 'checking' || patch.stage === 'rehearsing') return 700;
  return unsettled(patch) ? 4_000 : false;
}

export function usePatch(id: string) {
  return useQuery({
    queryKey: changeKeys.one(id),
    queryFn: ({ signal }) => call<Patch>(`${patches}/${id}`, { signal }),
    refetchInterval: (query) => pace(query.state.data),
  });
}

export function useWatch(id: string, watched: boolean, live: boolean) {
  return useQuery({
    queryKey: changeKeys.watch(id),
    queryFn: ({ signal }) => call<Watch>(`${patches}/${id}/watch`, { signal }),
    refetchInterval: live ? 10_000 : false,
    enabled: watched,
  });
}

/** Does one act and takes over what the patch is then. */
async function act(id: number, name: string, body: object): Promise<Patch> {
  try {
    return await call<Patch>(`${patches}/${id}/${name}`, { method: 'POST', body });
  } finally {
    // Also after a refusal: somebody else may have been quicker.
    await queryClient.invalidateQueries({ queryKey: changeKeys.all });
  }
}

export const approve = (id: number, reason: string, confirm?: string) =>
  act(id, 'decide', { decision: 'approve', reason, ...(confirm ? { confirm } : {}) });
export const reject = (id: number, reason: string) => act(id, 'decide', { decision: 'reject', reason });
export const apply = (id: number, trial: Trial) => act(id, 'apply', trial);
export const rollBack = (id: number, reason: string) => act(id, 'rollback', { reason });
export const promote = (id: number) => act(id, 'promote', {});
export const withdraw = (id: number, reason: string) => act(id, 'withdraw', { reason });
/** Makes the same change on what the artifact is now; the answer is another patch. */
export const rebase = (id: number) => act(id, 'rebase', {});
export const rehearse = (id: number, sample: number, unknown: Unknowns, script?: Record<string, unknown>) =>
  act(id, 'rehearse', { sample, unknown, ...(script ? { script } : {}) });

/** Answers a question that belongs to no conversation; null skips it. */
export async function settle(question: OpenQuestion, value: string | boolean | number | null): Promise<void> {
  await call('/v1/chat/resume', {
    method: 'POST',
    body: {
      interrupt_id: question.interrupt_id,
      resume_value: value === null ? { type: 'cancel', value: null } : { type: question.interrupt_type, value },
    },
  });
  await queryClient.invalidateQueries({ queryKey: changeKeys.questions });
}
