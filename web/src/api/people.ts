// People and plans, as administrators see and change them.

import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { ask, type Body } from './ask.ts';
import type { Account, PlanNumbers } from './gen.ts';
import { queryClient } from './queries.ts';

export type { Account, AuditEntry, PlanList, PlanNumber, PlanNumbers } from './gen.ts';

export interface PeopleFilter {
  q: string;
  role: '' | Account['role'];
  plan: string;
  state: '' | 'active' | 'suspended';
}

export const peopleKeys = {
  all: ['people'] as const,
  list: (filter: PeopleFilter) => ['people', 'list', filter] as const,
  one: (id: string) => ['people', 'one', id] as const,
  audit: (id: string) => ['people', 'audit', id] as const,
  plans: ['people', 'plans'] as const,
};

export function usePeople(filter: PeopleFilter) {
  return useInfiniteQuery({
    queryKey: peopleKeys.list(filter),
    queryFn: ({ pageParam, signal }) => ask('listUsers', { query: { ...filter, cursor: pageParam, limit: 50 }, signal }),
    initialPageParam: '',
    getNextPageParam: (last) => last.next_cursor || undefined,
    placeholderData: keepPreviousData,
  });
}

export function usePerson(id: string) {
  return useQuery({ queryKey: peopleKeys.one(id), queryFn: ({ signal }) => ask('user', { path: { id }, signal }) });
}

/** What administrators did to an account, the latest first. */
export function useAudit(id: string) {
  return useInfiniteQuery({
    queryKey: peopleKeys.audit(id),
    queryFn: ({ pageParam, signal }) => ask('listAudit', { query: { user_id: id, cursor: pageParam, limit: 20 }, signal }),
    initialPageParam: '',
    getNextPageParam: (last) => last.next_cursor || undefined,
  });
}

export function usePlans() {
  return useQuery({ queryKey: peopleKeys.plans, queryFn: ({ signal }) => ask('plans', { signal }) });
}

const stale = () => void queryClient.invalidateQueries({ queryKey: peopleKeys.all });

/** Does something to an account; whatever came of it, all that is shown of people is asked for anew. */
async function act<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } finally {
    stale();
  }
}

export const changePerson = (id: string, body: Body<'changeUser'>) => act(() => ask('changeUser', { path: { id }, body, once: true }));
export const signOutPerson = (id: string) => act(() => ask('signOutUser', { path: { id } }));
export const clearFactor = (id: string) => act(() => ask('clearFactor', { path: { id }, once: true }));
export const changePlan = (plan: PlanNumbers, numbers: Record<string, number | null>) =>
  act(() => ask('changePlan', { path: { name: plan.name }, body: { version: plan.version, numbers }, once: true }));
