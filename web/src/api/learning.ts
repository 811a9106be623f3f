// What is learnt from what a person says of answers, and what they allow of it.

import { useQuery } from '@tanstack/react-query';
import { download } from '../lib/download.ts';
import { address, ask, type Body } from './ask.ts';
import { authorized } from './call.ts';
import type { Comparison, LearnedAdapter, Training } from './gen.ts';
import { queryClient } from './queries.ts';
import type { PatchStatus } from './types.ts';

export type { Adapter, AdapterTrial, AdapterVersion, AdapterWhole, Comparison, LearnedGate } from './gen.ts';
export type { Cluster, LearnedAdapter, LearningEvent, LearningSettings, LearningState as Learning, Lesson, GateKept, TrainGate, Training, TrainingStep } from './gen.ts';

export type Reach = 'mine' | 'global';

export const learningKeys = {
  all: ['learning'] as const,
  state: ['learning', 'state'] as const,
  clusters: (scope: Reach) => ['learning', 'clusters', scope] as const,
  events: (cluster: string) => ['learning', 'events', cluster] as const,
  adapters: ['learning', 'adapters'] as const,
  adapter: (id: string) => ['learning', 'adapters', id] as const,
  comparison: (adapter: string, run: string) => ['learning', 'comparison', adapter, run] as const,
  trainings: ['learning', 'trainings'] as const,
  everybodys: ['learning', 'trainings', 'everybody'] as const,
  metrics: (training: string) => ['learning', 'metrics', training] as const,
};

/** Whether a change of an adapter is on its way without anybody having to do something. */
export function isChecked({ patch }: LearnedAdapter): boolean {
  return patch !== null && open.has(patch.status) && !patch.may_decide;
}

const open: ReadonlySet<PatchStatus> = new Set(['pending', 'approved']);

export function useLearning(enabled = true) {
  return useQuery({
    queryKey: learningKeys.state,
    queryFn: ({ signal }) => ask('learning', { signal }),
    refetchInterval: (query) => (query.state.data?.adapters.some(isChecked) ? 3_000 : false),
    enabled,
  });
}

export function useClusters(scope: Reach) {
  return useQuery({
    queryKey: learningKeys.clusters(scope),
    queryFn: async ({ signal }) => (await ask('listClusters', { query: { scope }, signal })).data,
  });
}

/** What a situation is made of. */
export function useClusterEvents(cluster: string, enabled: boolean) {
  return useQuery({
    queryKey: learningKeys.events(cluster),
    queryFn: async ({ signal }) => (await ask('listClusterEvents', { path: { id: cluster }, signal })).data,
    enabled,
  });
}

/** What was learnt, as the adapters that carry it. */
export function useAdapters() {
  return useQuery({
    queryKey: learningKeys.adapters,
    queryFn: async ({ signal }) => (await ask('listAdapters', { signal })).data,
    refetchInterval: (query) => (query.state.data?.some((one) => one.patch?.trial) ? 30_000 : false),
  });
}

/** One adapter with its versions. */
export function useAdapter(id: string, enabled: boolean) {
  return useQuery({ queryKey: learningKeys.adapter(id), queryFn: ({ signal }) => ask('adapter', { path: { id }, signal }), enabled });
}

/** Gives the browser the weights of an adapter to keep, as the folder that PEFT reads. */
export async function takeAlong(id: string, version: number): Promise<void> {
  const response = await authorized(address('/v1/adapters/{id}/versions/{n}/peft', { id, n: version }), { method: 'GET', headers: {} });
  const named = /filename\*=UTF-8''([^;]+)/.exec(response.headers.get('Content-Disposition') ?? '')?.[1];
  download(named ? decodeURIComponent(named) : `adapter-v${version}.zip`, 'application/zip', await response.blob());
}

/** Whether both answers of a comparison are there, or will never be. */
function isAnswered({ first, second, status }: Comparison): boolean {
  return (first !== null && second !== null && status === 'waiting') || status === 'done' || status === 'failed' || status === 'cancelled';
}

/** One question answered twice; it is asked for until both answers are there. */
export function useComparison(adapter: string, run: string) {
  return useQuery({
    queryKey: learningKeys.comparison(adapter, run),
    queryFn: ({ signal }) => ask('comparison', { path: { id: adapter, run_id: run }, signal }),
    refetchInterval: (query) => (query.state.data && isAnswered(query.state.data) ? false : 1_000),
  });
}

export const compare = (adapter: string, question: string, key: string) => ask('compareAdapter', { path: { id: adapter }, body: { question }, key });

/** Says which answer is better, and learns which is which. */
export async function choose(adapter: string, run: string, choice: Body<'chooseAnswer'>['choice']): Promise<void> {
  const told = await ask('chooseAnswer', { path: { id: adapter, run_id: run }, body: { choice } });
  queryClient.setQueryData(learningKeys.comparison(adapter, run), told);
  void queryClient.invalidateQueries({ queryKey: learningKeys.adapters });
}

/** Whether a training waits or runs. */
export function isTrained({ status }: Training): boolean {
  return status === 'queued' || status === 'running';
}

/** The latest trainings of a person's adapters; while one waits or runs, looked at again and again. */
export function useTrainings() {
  return useQuery({
    queryKey: learningKeys.trainings,
    queryFn: async ({ signal }) => (await ask('listTraining', { query: { limit: 20 }, signal })).data,
    refetchInterval: (query) => again(query.state.data),
  });
}

/** When trainings are looked at again, in milliseconds. */
function again(list: readonly Training[] | undefined): number | false {
  return list?.some((one) => one.status === 'running') ? 2_000 : list?.some(isTrained) ? 15_000 : false;
}

/** The latest trainings of everybody, for administrators. */
export function useEverybodysTrainings() {
  return useQuery({
    queryKey: learningKeys.everybodys,
    queryFn: async ({ signal }) => (await ask('listTraining', { query: { everybody: true, limit: 50 }, signal })).data,
    refetchInterval: (query) => again(query.state.data) || 30_000,
  });
}

/** How the loss of a training went, live while it runs. */
export function useTrainingMetrics(id: string, live: boolean) {
  return useQuery({
    queryKey: learningKeys.metrics(id),
    queryFn: async ({ signal }) => (await ask('getTrainingMetrics', { path: { id }, signal })).steps,
    refetchInterval: live ? 2_000 : false,
  });
}

/** Does something; whatever came of it, all that is shown of learning is asked for anew. */
async function act<T>(doing: Promise<T>): Promise<T> {
  try {
    return await doing;
  } finally {
    await queryClient.invalidateQueries({ queryKey: learningKeys.all });
  }
}

export const changeLearning = (body: Body<'changeLearning'>) => act(ask('changeLearning', { body }));
export const cancelTraining = (id: string) => act(ask('cancelTraining', { path: { id } }));
export const trainAdapter = (id: string) => act(ask('trainAdapter', { path: { id }, once: true }));
export const learnNow = () => act(ask('learnNow', { once: true }));
export const forgetLearnt = () => act(ask('forgetLearnt'));
export const changeLesson = (id: string, body: Body<'changeLesson'>) => act(ask('changeLesson', { path: { id }, body }));
export const deleteLesson = (id: string) => act(ask('deleteLesson', { path: { id } }));
export const excludeEvent = (id: number, excluded: boolean) => act(ask('changeLearningEvent', { path: { id }, body: { excluded } }));
export const changeCluster = (id: string, body: Body<'changeCluster'>) => act(ask('changeCluster', { path: { id }, body }));
export const deleteCluster = (id: string) => act(ask('deleteCluster', { path: { id } }));
export const mergeCluster = (id: string, into: string) => act(ask('mergeCluster', { path: { id }, body: { into } }));
export const splitCluster = (id: string, event_ids: number[]) => act(ask('splitCluster', { path: { id }, body: { event_ids } }));
