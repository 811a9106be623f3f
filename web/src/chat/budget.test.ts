import { describe, expect, it } from 'vitest';
import type { Spending } from '../api/types.ts';
import { isSpent, overdrawn } from './budget.ts';

const noon = Date.parse('2026-11-20T12:00:00Z');
function spending(tokens: number, usd: number, budget: Spending['budget']): Spending {
  const used = { calls: 1, input_tokens: tokens, output_tokens: 0, tokens_used: tokens, cost_usd: usd };
  return {
    today: used,
    month: used,
    models: [],
    budget,
    today_renews_at: '2026-11-21T00:00:00Z',
    month_renews_at: '2026-12-01T00:00:00Z',
  };
}

// Requirements: OBS-09
describe('a budget that is used up', () => {
  it('is told apart from every other refusal', () => {
    expect(isSpent({ code: 'rate_limited', message: '', reason: 'budget' })).toBe(true);
    expect(isSpent({ code: 'rate_limited', message: '', reason: 'upstream' })).toBe(false);
    expect(isSpent({ code: 'rate_limited', message: '' })).toBe(false);
    expect(isSpent(null)).toBe(false);
  });

  it('says what was used, in the words of a language', () => {
    const tokens = spending(12_345, 0, { tokens_per_day: 10_000, usd_per_month: 0 });
    expect(overdrawn(tokens, noon, 'en')).toMatchObject({ of: 'day', used: '12,345', limit: '10,000' });
    expect(overdrawn(tokens, noon, 'de')).toMatchObject({ used: '12.345', limit: '10.000' });
    const money = spending(12_345, 5.021, { tokens_per_day: 0, usd_per_month: 5 });
    expect(overdrawn(money, noon, 'en')).toMatchObject({ of: 'month', used: '$5.02', limit: '$5.00' });
  });

  it('says nothing of a day or a month that is over, nor of a budget with room', () => {
    const day = spending(20, 0, { tokens_per_day: 10, usd_per_month: 0 });
    expect(overdrawn(day, Date.parse('2026-11-19T23:59:00Z'), 'en')).toBeNull();
    const month = spending(20, 6, { tokens_per_day: 0, usd_per_month: 5 });
    expect(overdrawn(month, Date.parse('2026-11-01T00:00:00Z'), 'en')).not.toBeNull();
    expect(overdrawn(month, Date.parse('2026-10-31T23:59:00Z'), 'en')).toBeNull();
    expect(overdrawn(spending(1, 1, { tokens_per_day: 10, usd_per_month: 5 }), noon, 'en')).toBeNull();
    expect(overdrawn(spending(1, 1, { tokens_per_day: 0, usd_per_month: 0 }), noon, 'en')).toBeNull();
  });
});
