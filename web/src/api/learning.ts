// What is learnt from what a person says of answers, and what they allow of it.

import { useQuery } from '@tanstack/react-query';
import { ask, type Body } from './ask.ts';
import type { LearnedAdapter } from './gen.ts';
import { queryClient } from './queries.ts';
import type { PatchStatus } from './types.ts';

export type { Cluster, LearnedAdapter, LearningEvent, LearningSettings, LearningState as Learning, Lesson } from './gen.ts';

export type Reach = 'mine' | 'global';

export const learningKeys = {
  all: ['learning'] as const,
  state: ['learning', 'state'] as const,
  clusters: (scope: Reach) => ['learning', 'clusters', scope] as const,
  events: (cluster: string) => ['learning', 'events', cluster] as const,
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

/** Does something; whatever came of it, all that is shown of learning is asked for anew. */
async function act<T>(doing: Promise<T>): Promise<T> {
  try {
    return await doing;
  } finally {
    await queryClient.invalidateQueries({ queryKey: learningKeys.all });
  }
}

export const changeLearning = (body: Body<'changeLearning'>) => act(ask('changeLearning', { body }));
export const learnNow = () => act(ask('learnNow', { once: true }));
export const forgetLearnt = () => act(ask('forgetLearnt'));
export const changeLesson = (id: string, body: Body<'changeLesson'>) => act(ask('changeLesson', { path: { id }, body }));
export const deleteLesson = (id: string) => act(ask('deleteLesson', { path: { id } }));
export const excludeEvent = (id: number, excluded: boolean) => act(ask('changeLearningEvent', { path: { id }, body: { excluded } }));
export const changeCluster = (id: string, body: Body<'changeCluster'>) => act(ask('changeCluster', { path: { id }, body }));
export const deleteCluster = (id: string) => act(ask('deleteCluster', { path: { id } }));
export const mergeCluster = (id: string, into: string) => act(ask('mergeCluster', { path: { id }, body: { into } }));
export const splitCluster = (id: string, event_ids: number[]) => act(ask('splitCluster', { path: { id }, body: { event_ids } }));
