// What the capture proxy kept of a person's agents, and what it cost.

import { useEffect } from 'react';
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { address, ask, type Body } from './ask.ts';
import { authorized, dataOf } from './call.ts';
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

/** What a person said of a block: it stays, it goes with the next epoch, or nothing. */
export type Keep = 'keep' | 'drop' | '';

/** A result that is set aside. */
export interface Replacement {
  result: string;
  block: string;
  label: string;
  bytes: number;
  tokens: number;
}

export interface Estimate {
  behind: number;
  removed: number;
  placed: number;
  thinking: number;
  extra: number;
  gain: number;
  requests: number;
}

export interface Plan {
  policy: string;
  mode: string;
  replace: Replacement[] | null;
  estimate: Estimate;
  pays: boolean;
  asked?: boolean;
  made_at: string;
}

export interface Epoch {
  number: number;
  policy: string;
  why: string;
  replace: Replacement[] | null;
  predicted: Estimate;
  opened_at: string;
  ended?: string;
}

/** What was paid, and what would have been without a view. */
export interface Saved {
  paid_usd: number | null;
  raw_usd: number | null;
  low_usd: number | null;
  high_usd: number | null;
}

export interface LineageView {
  policy: string;
  mode: string;
  plan: Plan | null;
  epochs: Epoch[];
  saved: Saved | null;
}

/** What one cause of misses cost. */
export interface MissFigure {
  cause: string;
  count: number;
  tokens: number;
  usd: number | null;
}

export interface CostDay {
  day: string;
  model: string;
  exchanges: number;
  unpriced: number; // exchanges of models whose price is not known
  input_tokens: number;
  cache_read_tokens: number;
  cache_write_5m_tokens: number;
  cache_write_1h_tokens: number;
  output_tokens: number;
  usd: number | null;
}

export interface Costs extends Omit<CostDay, 'day' | 'model'> {
  days: CostDay[];
  /** A subscription pays for it in another way than by token. */
  at_list_price: boolean;
  misses: MissFigure[];
  saved?: Saved | null;
  /** How far forecasts of what the cache gives were off, as shares; told: not so far that nothing can be told from them. */
  ruler: { p50: number; p90: number; exchanges: number; told: boolean };
}

export interface Miss {
  exchange: string;
  lineage: string;
  at: string;
  model: string;
  cause: string;
  where: string;
  predicted_read: number | null;
  read: number;
  tokens: number;
  usd: number | null;
}

export interface Misses {
  data: Miss[];
  next_cursor: string | null;
}

/** What later versions of the server say of an agent, an exchange and a block. */
export interface Spent {
  usd?: number | null;
  cache_share?: number | null;
}

export interface Priced {
  usd?: number | null;
  predicted_read?: number | null;
  predicted_write?: number | null;
  miss?: { cause: string; where: string; tokens: number; usd: number | null } | null;
}

export interface Marked {
  starred?: boolean;
  keep?: Keep;
}

export const palaceKeys = {
  all: ['palace'] as const,
  any: ['palace', 'any'] as const,
  agents: ['palace', 'agents'] as const,
  timeline: (agent: string, lineage: string) => ['palace', 'timeline', agent, lineage] as const,
  lineages: (agent: string) => ['palace', 'lineages', agent] as const,
  view: (lineage: string) => ['palace', 'view', lineage] as const,
  exchanges: (filter: object) => ['palace', 'exchanges', filter] as const,
  exchange: (id: string) => ['palace', 'exchange', id] as const,
  bodies: (id: string) => ['palace', 'bodies', id] as const,
  block: (id: string) => ['palace', 'block', id] as const,
  raw: (id: string) => ['palace', 'block', id, 'raw'] as const,
  costs: (days: number, agent: string) => ['palace', 'costs', days, agent] as const,
  misses: (agent: string) => ['palace', 'misses', agent] as const,
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
      const [raw, sent] = await Promise.all([textOf(`${place}/request`, signal), orNull(textOf(`${place}/sent`, signal))]);
      return { raw, sent: sent ?? raw };
    },
    staleTime: Infinity,
  });
}

/** What is in force in a history, and what it saved; null: nothing is known of it. */
export function useView(lineage: string | undefined) {
  return useQuery({
    queryKey: palaceKeys.view(lineage ?? ''),
    queryFn: ({ signal }) => orNull(dataOf<LineageView>('GET', `/v1/palace/lineages/${encodeURIComponent(lineage!)}/view`, { signal })),
    enabled: Boolean(lineage),
  });
}

export function useCosts(days: number, agent: string) {
  return useQuery({
    queryKey: palaceKeys.costs(days, agent),
    queryFn: ({ signal }) => orNull(dataOf<Costs>('GET', address('/v1/palace/costs', {}, { days, agent }), { signal })),
    placeholderData: keepPreviousData,
  });
}

export function useMisses(agent: string) {
  return useInfiniteQuery({
    queryKey: palaceKeys.misses(agent),
    queryFn: ({ pageParam, signal }) => orNull(dataOf<Misses>('GET', address('/v1/palace/misses', {}, { agent, cursor: pageParam, limit: 50 }), { signal })),
    initialPageParam: '',
    getNextPageParam: (page) => page?.next_cursor ?? undefined,
  });
}

const changed = () => queryClient.invalidateQueries({ queryKey: palaceKeys.all });

const put = (id: string, what: string, body: object) => dataOf('PUT', `/v1/palace/blocks/${encodeURIComponent(id)}/${what}`, { body });

export async function setTier(id: string, tier: Body<'setPalaceTier'>['tier']): Promise<void> {
  await ask('setPalaceTier', { path: { id }, body: { tier } });
  await changed();
}

export async function setStar(id: string, starred: boolean): Promise<void> {
  await put(id, 'star', { starred });
  await changed();
}

export async function setKeep(id: string, keep: Keep): Promise<void> {
  await put(id, 'keep', { keep });
  await changed();
}

/** Takes what a block says away, for good. */
export async function erase(id: string): Promise<void> {
  await dataOf('POST', `/v1/palace/blocks/${encodeURIComponent(id)}/erase`, { body: {} });
  await changed();
}

/** What could be set aside is, with the next turn, whatever it costs. */
export async function openEpoch(lineage: string): Promise<void> {
  await dataOf('POST', `/v1/palace/lineages/${encodeURIComponent(lineage)}/epoch`, { body: {} });
  await changed();
}
