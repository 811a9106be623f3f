// What tests of the palace's pages show.

import type { Agent, Block, Costs, Epoch, Lineage, Note, Usage } from '../api/palace.ts';

export const usageFixture: Usage = { input_tokens: 10, cache_read_tokens: 70, cache_write_5m_tokens: 20, cache_write_1h_tokens: 0, output_tokens: 5 };

const spent = { usd: 0.5, unpriced: 0, at_list_price: false, cache_share: 0.7, context_tokens: 1_050 };

export function blockFixture(of: Partial<Block> = {}): Block {
  return {
    uuid: '0193d7a1-aaaa-7000-8000-000000007f3a',
    display_id: 42,
    generation: 0,
    block_type: 'ToolResult',
    role: 'user',
    tool: '',
    scope: 'tool',
    project: 'liminal',
    channels: [],
    retention_tier: 'SHORT',
    tier_by: 'rule',
    active: true,
    starred: false,
    wish: '',
    tokens: 100,
    size: 400,
    label: 'package a',
    exchange: 'e1',
    form: 'json',
    created_at: '2026-11-28T12:00:00Z',
    deleted_at: null,
    archived_at: null,
    erased_at: null,
    ...of,
  };
}

export function lineageFixture(of: Partial<Lineage> = {}): Lineage {
  return { ...spent, id: 'l1', agent: 'a1', key: 'session:s', fork: 0, blocks: 3, sent: 2, input_tokens: 1_000, output_tokens: 50, model: 'claude-test', exchanges: 2, created_at: '2026-11-28T12:00:00Z', seen_at: '2026-11-28T12:01:00Z', ...of };
}

export function agentFixture(of: Partial<Agent> = {}): Agent {
  return {
    ...spent,
    id: 'a1',
    agent_id: 1,
    name: 'claude',
    project: 'liminal',
    kind: 'main',
    created_at: '2026-11-28T12:00:00Z',
    seen_at: '2026-11-28T12:01:00Z',
    lineage: lineageFixture(),
    lineages: 1,
    tokens_by_type: { User: 100, ToolResult: 600 },
    exchanges: 2,
    ...of,
  };
}

export function epochFixture(of: Partial<Epoch> = {}): Epoch {
  return { number: 1, policy: 'p', why: 'cold', replace: [], predicted: { behind: 0, removed: 0, placed: 0, thinking: 0, extra: 0, gain: 0, requests: 0 }, opened_at: '2026-11-28T12:00:00Z', client: 'session:s', lineage: 'l1', at: 3, recall: true, exchanges: 4, refused: 0, bytes_less: 4_000, ...of };
}

export function costsFixture(of: Partial<Costs> = {}): Costs {
  return { ...usageFixture, days: [], exchanges: 2, unpriced: 0, at_list_price: false, usd: 0.5, misses: [], ruler: { p50: 0.01, p90: 0.03, exchanges: 40, told: true }, saved: { exchanges: 0, paid_usd: null, raw_usd: null, low_usd: null, high_usd: null }, ...of };
}

export function noteFixture(of: Partial<Note> = {}): Note {
  return { id: 'n1', lineage: 'l1', agent_id: 1, says: 'Tests run with -race.', blocks: ['b1'], sources: [blockFixture()], model: 'qwen3:4b', state: 'proposed', made_at: '2026-11-28T12:00:00Z', decided_at: null, ...of };
}
