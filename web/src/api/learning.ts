// What is learnt from what a person says of answers, and what they allow of it.

import { useQuery } from '@tanstack/react-query';
import { dataOf } from './call.ts';
import type { Feedback } from './gen.ts';
import { queryClient } from './queries.ts';
import type { PatchStatus, Run } from './types.ts';

// Written by hand until the server's document has them.

export interface LearningSettings {
  personal: boolean;
  shared: boolean;
  by_rule: boolean;
}

/** What a person once said of an answer. */
export interface LearningEvent {
  event_id: number;
  signal: Feedback['signal'];
  notes: string;
  corrected: boolean;
  question: string;
  conversation_id: string;
  message_id: string;
  at: string;
  excluded: boolean;
}

export interface Lesson {
  id: string;
  text: string;
  directive: { kind: string; value: string } | null;
  state: 'active' | 'off' | 'rejected';
  made_by: 'rule' | 'model' | 'person';
  strength: number;
  adapter_id: string;
  cluster_id: string;
  followed: boolean;
  sources: LearningEvent[];
}

export interface LearntAdapter {
  id: string;
  name: string;
  type: string;
  cluster_id: string;
  status: string;
  version: number;
  lessons: string[];
  patch: { id: number; status: PatchStatus; justification: string; by_rule: boolean; may_decide: boolean; may_roll_back: boolean } | null;
}

export interface Learning {
  mode: 'off' | 'text' | 'full';
  generative: boolean;
  settings: LearningSettings;
  waiting: number;
  last_run: { run_id: string; status: Run['status']; at: string } | null;
  adapters: LearntAdapter[];
  lessons: Lesson[];
}

/** A situation that questions come back to. */
export interface Cluster {
  id: string;
  label: string;
  description: string;
  size: number;
  strength: number;
  status: 'active' | 'retired';
  label_by: '' | 'rule' | 'model' | 'person';
}

export type Reach = 'mine' | 'global';

export const learningKeys = {
  all: ['learning'] as const,
  state: ['learning', 'state'] as const,
  clusters: (scope: Reach) => ['learning', 'clusters', scope] as const,
  events: (cluster: string) => ['learning', 'events', cluster] as const,
};

/** Whether a change of an adapter is on its way without anybody having to do something. */
export function isChecked({ patch }: LearntAdapter): boolean {
  return patch !== null && open.has(patch.status) && !patch.may_decide;
}

const open: ReadonlySet<PatchStatus> = new Set(['pending', 'approved']);

export function useLearning(enabled = true) {
  return useQuery({
    queryKey: learningKeys.state,
    queryFn: ({ signal }) => dataOf<Learning>('GET', '/v1/learning', { signal }),
    refetchInterval: (query) => (query.state.data?.adapters.some(isChecked) ? 3_000 : false),
    enabled,
  });
}

export function useClusters(scope: Reach) {
  return useQuery({
    queryKey: learningKeys.clusters(scope),
    queryFn: async ({ signal }) => (await dataOf<{ data: Cluster[] }>('GET', `/v1/clusters?scope=${scope}`, { signal })).data.filter((one) => one.status === 'active'),
  });
}

/** What a situation is made of. */
export function useClusterEvents(cluster: string, enabled: boolean) {
  return useQuery({
    queryKey: learningKeys.events(cluster),
    queryFn: async ({ signal }) => (await dataOf<{ data: LearningEvent[] }>('GET', `/v1/clusters/${cluster}/events`, { signal })).data,
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

export const changeLearning = (body: Partial<LearningSettings>) => act(dataOf<unknown>('PATCH', '/v1/learning', { body }));
export const learnNow = () => act(dataOf<{ run_id: string }>('POST', '/v1/learning/run', { once: true }));
export const forgetLearnt = () => act(dataOf<{ events: number }>('POST', '/v1/learning/forget', {}));
export const changeLesson = (id: string, body: { text?: string; state?: 'active' | 'off' }) => act(dataOf<unknown>('PATCH', `/v1/learning/lessons/${id}`, { body }));
export const deleteLesson = (id: string) => act(dataOf<unknown>('DELETE', `/v1/learning/lessons/${id}`, {}));
export const excludeEvent = (id: number, excluded: boolean) => act(dataOf<unknown>('PATCH', `/v1/learning/events/${id}`, { body: { excluded } }));
export const changeCluster = (id: string, body: { label?: string; description?: string }) => act(dataOf<unknown>('PATCH', `/v1/clusters/${id}`, { body }));
export const deleteCluster = (id: string) => act(dataOf<unknown>('DELETE', `/v1/clusters/${id}`, {}));
export const mergeCluster = (id: string, into: string) => act(dataOf<unknown>('POST', `/v1/clusters/${id}/merge`, { body: { into } }));
export const splitCluster = (id: string, event_ids: number[]) => act(dataOf<unknown>('POST', `/v1/clusters/${id}/split`, { body: { event_ids } }));
