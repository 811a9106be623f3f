import { expect, it } from 'vitest';
import { agentFixture, blockFixture, lineageFixture } from './fixtures.ts';
import { cacheShare, contextOf, nameOf, percent, sinceBegun, tokens, treeOf, usd } from './figures.ts';

// Requirements: PAL-10
it('lays what is in no block of a history to the system prompt and the tools', () => {
  expect(contextOf(agentFixture())).toEqual([
    { type: 'System', tokens: 350 },
    { type: 'User', tokens: 100 },
    { type: 'ToolResult', tokens: 600 },
  ]);
  expect(contextOf(agentFixture({ lineage: lineageFixture({ input_tokens: 10, output_tokens: 0 }) })).map((one) => one.type)).toEqual(['User', 'ToolResult']);
  const { lineage: _, ...without } = agentFixture({ tokens_by_type: {} });
  expect(contextOf(without)).toEqual([]);
});

it('draws subagents below who sent them, and who was seen last first', () => {
  const list = [
    agentFixture({ id: 'd', agent_id: 4, kind: 'subagent', parent_id: 'gone', seen_at: '2026-11-28T11:00:00Z' }),
    agentFixture({ id: 'c', agent_id: 3, kind: 'subagent', parent_id: 'a' }),
    agentFixture({ id: 'b', agent_id: 2, kind: 'subagent', parent_id: 'a' }),
    agentFixture({ id: 'e', agent_id: 5, seen_at: '2026-11-28T13:00:00Z' }),
    agentFixture({ id: 'a', agent_id: 1 }),
  ];
  expect(treeOf(list).map(({ agent, depth }) => `${agent.id}${depth}`)).toEqual(['e0', 'a0', 'b1', 'c1', 'd0']);
});

// Requirements: PAL-03 (of each block)
it('writes when an event came from the beginning of its request on', () => {
  expect([sinceBegun(0, 'en'), sinceBegun(1_234_567, 'en'), sinceBegun(1_234_567, 'de'), sinceBegun(-1, 'en')]).toEqual(['+0.000 s', '+1.235 s', '+1,235 s', '–']);
});

it('writes what is not known as a dash, and never as nothing', () => {
  expect([usd(null, 'en'), usd(undefined, 'en'), percent(null, 'en'), usd(0, 'en'), usd(-0.5, 'en')]).toEqual(['–', '–', '–', '$0.00', '−$0.50']);
  expect(cacheShare({ input_tokens: 0, cache_read_tokens: 0, cache_write_5m_tokens: 0, cache_write_1h_tokens: 0, output_tokens: 9 })).toBe(null);
  expect([tokens(12, 'en'), tokens(3_400, 'en'), tokens(112_300, 'en'), tokens(1_250_000, 'de')]).toEqual(['12', '3.4 k', '112 k', '1,3 M']);
  expect([nameOf(blockFixture()), nameOf(blockFixture({ display_id: null }))]).toEqual(['42-7f3a', '00007f3a']);
});
