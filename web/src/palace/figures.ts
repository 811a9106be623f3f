// Figures as the pages of the palace write them. What is not known is a dash.

import type { Agent, Block, Usage } from '../api/palace.ts';
import type { Language } from '../i18n/index.ts';
import { money } from '../lib/format.ts';

export const unknown = '–';

/** The kinds of blocks, in the order a request has them. */
export const types = ['System', 'User', 'Assistant', 'Thinking', 'ToolUse', 'ToolResult', 'Media', 'Unknown'] as const;
export type Type = (typeof types)[number];

/** System prompt and tools are one to who looks at what fills a context. */
export function typeOf(type: string): Type {
  if (type === 'Tools') return 'System';
  return types.find((one) => one === type) ?? 'Unknown';
}

/** Tokens in few digits: 12, 3.4 k, 112 k, 1.2 M. */
export function tokens(n: number, language: Language): string {
  const [value, unit] = n < 1_000 ? [n, ''] : n < 999_500 ? [n / 1_000, ' k'] : [n / 1_000_000, ' M'];
  return value.toLocaleString(language, { maximumFractionDigits: unit && value < 10 ? 1 : 0 }) + unit;
}

/** When something came, since its request began; below zero nobody noted it. */
export function sinceBegun(microseconds: number, language: Language): string {
  if (microseconds < 0) return unknown;
  return `+${(microseconds / 1_000_000).toLocaleString(language, { minimumFractionDigits: 3, maximumFractionDigits: 3 })} s`;
}

export function usd(value: number | null | undefined, language: Language): string {
  if (value === null || value === undefined) return unknown;
  if (value < 0) return `−${usd(-value, language)}`;
  if (value < 0.01) return money(value, language);
  return value.toLocaleString(language, { style: 'currency', currency: 'USD' });
}

/** What the model read. */
export function readOf(usage: Usage): number {
  return usage.input_tokens + usage.cache_read_tokens + usage.cache_write_5m_tokens + usage.cache_write_1h_tokens;
}

/** How much of what the model read came from the cache; null: it read nothing. */
export function cacheShare(usage: Usage): number | null {
  const all = readOf(usage);
  return all > 0 ? usage.cache_read_tokens / all : null;
}

export function percent(share: number | null | undefined, language: Language): string {
  if (share === null || share === undefined) return unknown;
  return `${(share * 100).toLocaleString(language, { maximumFractionDigits: share > 0 && share < 0.1 ? 1 : 0 })} %`;
}

export interface Part {
  type: Type;
  tokens: number;
}

/** What fills the context of an agent: its blocks by their types, and what of the last request is in no block of its history. */
export function contextOf(agent: Agent): Part[] {
  const of = new Map<Type, number>();
  for (const [type, n] of Object.entries(agent.tokens_by_type)) of.set(typeOf(type), (of.get(typeOf(type)) ?? 0) + n);
  const blocks = [...of.values()].reduce((sum, n) => sum + n, 0);
  const whole = agent.lineage ? agent.lineage.input_tokens + agent.lineage.output_tokens : 0;
  if (whole > blocks) of.set('System', (of.get('System') ?? 0) + whole - blocks);
  return types.flatMap((type) => ((of.get(type) ?? 0) > 0 ? [{ type, tokens: of.get(type)! }] : []));
}

/** How a person and a recall name a block: by its number and the end of its UUID, which begins with a time. */
export function nameOf(block: Pick<Block, 'display_id' | 'uuid'>): string {
  return block.display_id === null ? block.uuid.slice(-8) : `${block.display_id}-${block.uuid.slice(-4)}`;
}

export interface Node {
  agent: Agent;
  depth: number;
}

/** Agents with their subagents below them: who was seen last comes first, and subagents in the order they began. */
export function treeOf(agents: readonly Agent[]): Node[] {
  const known = new Set(agents.map((one) => one.id));
  const below = new Map<string, Agent[]>();
  for (const one of agents) {
    const parent = one.parent_id && known.has(one.parent_id) ? one.parent_id : '';
    below.set(parent, [...(below.get(parent) ?? []), one]);
  }
  const walk = (list: Agent[], depth: number): Node[] => list.flatMap((agent) => [{ agent, depth }, ...walk((below.get(agent.id) ?? []).toSorted((a, b) => a.agent_id - b.agent_id), depth + 1)]);
  return walk((below.get('') ?? []).toSorted((a, b) => Date.parse(b.seen_at) - Date.parse(a.seen_at)), 0);
}
