// What the capture proxy kept of a person's agents, and what it cost.

import { useEffect } from 'react';
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { ask, type Body, type Data } from './ask.ts';
import { authorized } from './call.ts';
import { Failure } from './failure.ts';
import { queryClient } from './queries.ts';
import type * as gen from './gen.ts';

export type Agent = gen.PalaceAgentState;
export type Lineage = gen.PalaceLineage;
export type Block = gen.PalaceBlock;
export type Content = gen.PalaceContent;
export type Exchange = gen.PalaceExchange;
export type Timeline = gen.PalaceView;
export type Usage = gen.PalaceUsage;

export type LineageView = gen.PalaceLineageView;
export type Epoch = Data<'palaceEpochs'>['data'][number];
export type Plan = LineageView['plan'];
export type Costs = gen.PalaceCosts;

export type Saved = Omit<gen.PalaceSaved, 'exchanges'>;

export type Miss = gen.PalaceMissed;
export type Event = gen.PalaceEvent;
export type Note = gen.PalaceNote;
export type NoteState = 'proposed' | 'kept' | 'dismissed';

export const palaceKeys = {
  all: ['palace'] as const,
  any: ['palace', 'any'] as const,
  agents: ['palace', 'agents'] as const,
  timeline: (agent: string, lineage: string) => ['palace', 'timeline', agent, lineage] as const,
  lineages: (agent: string) => ['palace', 'lineages', agent] as const,
  view: (lineage: string) => ['palace', 'view', lineage] as const,
  epochs: (lineage: string) => ['palace', 'epochs', lineage] as const,
  exchanges: (filter: object) => ['palace', 'exchanges', filter] as const,
  exchange: (id: string) => ['palace', 'exchange', id] as const,
  bodies: (id: string) => ['palace', 'bodies', id] as const,
  block: (id: string) => ['palace', 'block', id] as const,
  raw: (id: string) => ['palace', 'block', id, 'raw'] as const,
  events: (block: string) => ['palace', 'events', block] as const,
  costs: (days: number, agent: string) => ['palace', 'costs', days, agent] as const,
  misses: (agent: string) => ['palace', 'misses', agent] as const,
  notes: (filter: object) => ['palace', 'notes', filter] as const,
  waiting: ['palace', 'notes', 'waiting'] as const,
  policies: ['palace', 'policies'] as const,
};

/** How often what is looked at is read again; not while nobody sees it. */
const live = 4_000;

/** Whether anything of this person's was captured. */
export function usePalace(): boolean {
  const first = useQuery({ queryKey: palaceKeys.any, queryFn: async ({ signal }) => (await ask('palaceExchanges', { query: { limit: 1 }, signal })).data.length > 0, staleTime: 60_000 });
  return first.data === true;
}

export function useAgents() {
  return useQuery({ queryKey: palaceKeys.agents, queryFn: async ({ signal }) => (await ask('palaceAgents', { signal })).data, refetchInterval: live });
}

/** A history of an agent, block by block. It is long: it is read again only when it is known to have grown, at `seen`. */
export function useTimeline(agent: string, lineage: string, seen: string | undefined) {
  const timeline = useQuery({
    queryKey: palaceKeys.timeline(agent, lineage),
    queryFn: ({ signal }) => ask('palaceTimeline', { path: { agent_id: agent }, query: { lineage: lineage || null }, signal }),
    staleTime: 30_000,
  });
  const had = timeline.data?.lineage.seen_at;
  const { refetch } = timeline;
  useEffect(() => {
    if (had !== undefined && seen !== undefined && Date.parse(seen) > Date.parse(had)) void refetch();
  }, [had, seen, refetch]);
  return timeline;
}

export function useLineages(agent: string | undefined) {
  return useQuery({
    queryKey: palaceKeys.lineages(agent ?? ''),
    queryFn: async ({ signal }) => (await ask('palaceLineages', { query: { agent: agent! }, signal })).data,
    enabled: agent !== undefined,
    refetchInterval: live,
  });
}

export function useExchanges(filter: { agent?: string; lineage?: string }, enabled = true) {
  return useInfiniteQuery({
    queryKey: palaceKeys.exchanges(filter),
    queryFn: ({ pageParam, signal }) => ask('palaceExchanges', { query: { agent: filter.agent ?? null, lineage: filter.lineage ?? null, cursor: pageParam, limit: 100 }, signal }),
    initialPageParam: '',
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    enabled,
  });
}

export function useExchange(id: string, enabled = true) {
  return useQuery({ queryKey: palaceKeys.exchange(id), queryFn: ({ signal }) => ask('palaceExchange', { path: { id }, signal }), enabled, staleTime: 60_000 });
}

export function useBlock(id: string) {
  return useQuery({ queryKey: palaceKeys.block(id), queryFn: ({ signal }) => ask('palaceBlock', { path: { id }, signal }) });
}

/** The bytes of a block, as it came. */
export function useRaw(id: string, enabled: boolean) {
  return useQuery({ queryKey: palaceKeys.raw(id), queryFn: ({ signal }) => textOf(`/v1/palace/blocks/${encodeURIComponent(id)}/raw`, signal), enabled, staleTime: Infinity });
}

async function textOf(place: string, signal: AbortSignal): Promise<string> {
  return (await authorized(place, { signal })).text();
}

/** What is not there is nothing to tell of: it is not known. */
async function orNull<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Failure && error.status === 404) return null;
    throw error;
  }
}

/** Both forms of a request: as the client sent it, and as it went upstream. */
export function useBodies(id: string) {
  return useQuery({
    queryKey: palaceKeys.bodies(id),
    queryFn: async ({ signal }) => {
      const place = `/v1/palace/exchanges/${encodeURIComponent(id)}`;
      const [raw, sent] = await Promise.all([textOf(`${place}/request`, signal), textOf(`${place}/sent`, signal)]);
      return { raw, sent };
    },
    staleTime: Infinity,
  });
}

/** What is in force in a history, and what it saved; null: nothing is known of it. */
export function useView(lineage: string | undefined) {
  return useQuery({
    queryKey: palaceKeys.view(lineage ?? ''),
    queryFn: ({ signal }) => orNull(ask('palaceLineageView', { path: { id: lineage! }, signal })),
    enabled: Boolean(lineage),
  });
}

/** The epochs of a history and what became of them, the oldest first. */
export function useEpochs(lineage: string | undefined) {
  return useQuery({
    queryKey: palaceKeys.epochs(lineage ?? ''),
    queryFn: async ({ signal }) => (await ask('palaceEpochs', { query: { lineage: lineage! }, signal })).data,
    enabled: Boolean(lineage),
  });
}

export function useCosts(days: number, agent: string) {
  return useQuery({
    queryKey: palaceKeys.costs(days, agent),
    queryFn: ({ signal }) => ask('palaceCosts', { query: { days, agent: agent || null }, signal }),
    placeholderData: keepPreviousData,
  });
}

export function useMisses(agent: string) {
  return useInfiniteQuery({
    queryKey: palaceKeys.misses(agent),
    queryFn: ({ pageParam, signal }) => ask('palaceMisses', { query: { agent: agent || null, cursor: pageParam, limit: 50 }, signal }),
    initialPageParam: '',
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
}

/** What models propose to keep, the newest first. It is read again as long as it is short: who looks at more of it reads. */
export function useNotes(filter: { state?: NoteState; lineage?: string }, enabled = true) {
  return useInfiniteQuery({
    queryKey: palaceKeys.notes(filter),
    queryFn: ({ pageParam, signal }) => ask('palaceNotes', { query: { state: filter.state ?? null, lineage: filter.lineage ?? null, cursor: pageParam, limit: 50 }, signal }),
    initialPageParam: '',
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    enabled,
    refetchInterval: (query) => ((query.state.data?.pages.length ?? 0) > 1 ? false : live),
  });
}

const mostCounted = 20; // notes that wait; more are "20+"

export interface WaitingNotes {
  count: string;
  since: string; // when the newest was proposed
}

/** How many notes wait for the person; null: none does. */
export function useWaitingNotes(every = 60_000): WaitingNotes | null {
  const list = useQuery({ queryKey: palaceKeys.waiting, queryFn: ({ signal }) => ask('palaceNotes', { query: { state: 'proposed', limit: mostCounted }, signal, once: true }), refetchInterval: every, staleTime: every }).data;
  if (!list || list.data.length === 0) return null;
  return { count: list.next_cursor ? `${mostCounted}+` : String(list.data.length), since: list.data[0]!.made_at };
}

/** Policies of the capture proxy that the person can see. */
export function usePolicies(enabled: boolean) {
  return useQuery({ queryKey: palaceKeys.policies, queryFn: async ({ signal }) => (await ask('listArtifacts', { query: { type: 'policy.palace', status: 'active', limit: 100 }, signal })).data, enabled });
}

const changed = () => queryClient.invalidateQueries({ queryKey: palaceKeys.all });

export async function setTier(id: string, tier: Body<'setPalaceTier'>['tier']): Promise<void> {
  await ask('setPalaceTier', { path: { id }, body: { tier } });
  await changed();
}

export async function setStar(id: string, starred: boolean): Promise<void> {
  await ask('starPalaceBlock', { path: { id }, body: { starred } });
  await changed();
}

/** Whether a block stays in view; null: rules say. */
export async function setKeep(id: string, keep: boolean | null): Promise<void> {
  await ask('keepPalaceBlock', { path: { id }, body: { keep } });
  await changed();
}

/** Takes what a block says away, for good. */
export async function erase(id: string): Promise<void> {
  await ask('erasePalaceBlock', { path: { id } });
  await changed();
}

/** What could be set aside is, with the next turn, whatever it costs; or not any more. */
export async function openEpoch(lineage: string, open: boolean): Promise<void> {
  await ask('openPalaceEpoch', { path: { id: lineage }, body: { open } });
  await changed();
}

/** What became of a block, and who did it; the newest first. */
export function useEvents(block: string) {
  return useQuery({ queryKey: palaceKeys.events(block), queryFn: async ({ signal }) => (await ask('palaceEvents', { query: { block, limit: 100 }, signal })).data });
}

/** Keeps a note, whose blocks are LONG then, or drops it. What became of it is told before lists without it come in. */
export async function decideNote(id: string, keep: boolean, told: (note: Note) => void): Promise<void> {
  told(await ask(keep ? 'keepPalaceNote' : 'dismissPalaceNote', { path: { id } }));
  await changed();
}
