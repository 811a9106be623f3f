// A run that a budget ended: what was used of it, and when it renews (OBS-09).

import type { RunProblem, Spending } from '../api/types.ts';
import type { Language } from '../i18n/index.ts';
import { count, money, moment } from '../lib/format.ts';

/** Whether a budget was the reason: waiting a minute does not help then. */
export function isSpent(problem: RunProblem | null | undefined): problem is RunProblem & { reason: 'budget' } {
  return problem?.code === 'rate_limited' && problem.reason === 'budget';
}

export interface Overdrawn {
  of: 'day' | 'month';
  used: string;
  limit: string;
  renews: string;
}

const day = 86_400_000; // ms

/**
 * Which budget is used up, in words of a language. Null when none is, or when
 * what failed then (ms) belongs to a day or month that is over: what was used
 * of that one is not known here.
 */
export function overdrawn({ today, month, budget, ...renews }: Spending, then: number, language: Language): Overdrawn | null {
  const { tokens_per_day: tokens = 0, usd_per_month: usd = 0 } = budget;
  const dayEnds = Date.parse(renews.today_renews_at);
  if (tokens > 0 && today.tokens_used >= tokens && then >= dayEnds - day) {
    return { of: 'day', used: count(today.tokens_used, language), limit: count(tokens, language), renews: moment(dayEnds, language) };
  }
  const monthEnds = new Date(renews.month_renews_at);
  const monthBegan = Date.UTC(monthEnds.getUTCFullYear(), monthEnds.getUTCMonth() - 1, 1);
  if (usd > 0 && month.cost_usd >= usd && then >= monthBegan) {
    return { of: 'month', used: money(month.cost_usd, language), limit: money(usd, language), renews: moment(monthEnds.getTime(), language) };
  }
  return null;
}
