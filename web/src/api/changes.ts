// ConfigOps: proposed changes on their way from a proposal to a version, and
// back if they were wrong (001 §10).

import { useQuery } from '@tanstack/react-query';
import { ask } from './ask.ts';
import { queryClient } from './queries.ts';
import type * as gen from './gen.ts';

export type { Approval, Example, Patch, PatchEvent, PatchRow, Person, RolloutPlan, Two, Watch } from './gen.ts';
import type { Patch, PatchRow, RolloutPlan } from './gen.ts';
import type { PatchStatus } from './types.ts';

/** What becomes of an effect the record does not hold. */
export type Unknowns = Exclude<gen.Patch['unknown'], ''>;

export type Report = gen.RehearsalReport;
export type Change = gen.PatchChange;

/** One operation of a JSON patch (RFC 6902). */
export type Operation = { [member in keyof gen.Operation]: gen.Operation[member] };
export type Problem = gen.Fault;
export type Check = gen.PatchCheck;

/** A figure with what it may be as well, given how few runs there were. */
export type Measured = gen.Estimate;

export type WatchRow = gen.Row;

/** A question put to whoever runs the installation; one of a patch names it. */
export type OpenQuestion = gen.Interrupt;

export const changeKeys = {
  all: ['patches'] as const,
  list: (status: string, artifact: string) => ['patches', 'list', status, artifact] as const,
  one: (id: string) => ['patches', 'one', id] as const,
  watch: (id: string) => ['patches', 'watch', id] as const,
  questions: ['patches', 'questions'] as const,
};

const most = 100; // patches in one list

async function list(status: PatchStatus | '', artifact: string, signal: AbortSignal): Promise<PatchRow[]> {
  return (await ask('listPatches', { query: { status: status || null, artifact_id: artifact, limit: most }, signal })).data;
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
export function unsettled(patch: PatchRow | Patch): boolean {
  return patch.status === 'pending' || patch.status === 'approved' || (patch.status === 'applied' && patch.stage === 'watching');
}

/** Whether a person has to do something for it to go on. */
export function waits(patch: PatchRow | Patch): boolean {
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

/** Open questions of people that no patch asks: those are decided on the patch's page. */
export function useOpenQuestions(enabled = true) {
  return useQuery({
    queryKey: changeKeys.questions,
    queryFn: async ({ signal }) =>
      (await ask('listInterrupts', { signal })).data.filter((one) => !one.patch_id && one.waits_for === 'person').toSorted((a, b) => a.created_at.localeCompare(b.created_at)),
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
    queryFn: ({ signal }) => ask('patch', { path: { id }, signal }),
    refetchInterval: (query) => pace(query.state.data),
  });
}

export function useWatch(id: string, watched: boolean, live: boolean) {
  return useQuery({
    queryKey: changeKeys.watch(id),
    queryFn: ({ signal }) => ask('watchPatch', { path: { id }, signal }),
    refetchInterval: live ? 10_000 : false,
    enabled: watched,
  });
}

/** Takes over what a patch is after an act. */
async function act(doing: Promise<Patch>): Promise<Patch> {
  try {
    return await doing;
  } finally {
    // Also after a refusal: somebody else may have been quicker.
    await queryClient.invalidateQueries({ queryKey: changeKeys.all });
  }
}

export const approve = (id: number, reason: string, confirm?: string) =>
  act(ask('decidePatch', { path: { id }, body: { decision: 'approve', reason, ...(confirm ? { confirm } : {}) } }));
export const reject = (id: number, reason: string) => act(ask('decidePatch', { path: { id }, body: { decision: 'reject', reason } }));
export const apply = (id: number, plan: RolloutPlan) => act(ask('applyPatch', { path: { id }, body: plan }));
export const rollBack = (id: number, reason: string) => act(ask('rollBackPatch', { path: { id }, body: { reason } }));
export const promote = (id: number) => act(ask('promotePatch', { path: { id } }));
export const withdraw = (id: number, reason: string) => act(ask('withdrawPatch', { path: { id }, body: { reason } }));
/** Makes the same change on what the artifact is now; the answer is another patch. */
export const rebase = (id: number) => act(ask('rebasePatch', { path: { id } }));
export const rehearse = (id: number, sample: number, unknown: Unknowns, script?: Record<string, unknown>) =>
  act(ask('rehearsePatch', { path: { id }, body: { sample, unknown, ...(script ? { script } : {}) } }));

/** Answers a question that belongs to no conversation; null skips it. */
export async function settle(question: OpenQuestion, value: unknown): Promise<void> {
  await ask('resume', {
    body: {
      interrupt_id: question.interrupt_id,
      resume_value: value === null ? { type: 'cancel', value: null } : { type: question.interrupt_type, value },
    },
  });
  await queryClient.invalidateQueries({ queryKey: changeKeys.questions });
}
