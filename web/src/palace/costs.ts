// What the days of a span cost, put together for a picture and a table.

import type { Costs } from '../api/palace.ts';

export interface Day {
  day: string;
  read: number;
  write: number;
  input: number;
  output: number;
  usd: number | null;
}

/** Each day of a span that ends today, also those on which nothing was asked. */
export function daysOf(costs: Costs, span: number, today: Date): Day[] {
  const of = new Map<string, Day>();
  for (let back = span - 1; back >= 0; back--) {
    const day = new Date(today.getTime() - back * 86_400_000).toISOString().slice(0, 10);
    of.set(day, { day, read: 0, write: 0, input: 0, output: 0, usd: 0 });
  }
  for (const one of costs.days) {
    const day = of.get(one.day.slice(0, 10));
    if (!day) continue;
    day.read += one.cache_read_tokens;
    day.write += one.cache_write_5m_tokens + one.cache_write_1h_tokens;
    day.input += one.input_tokens;
    day.output += one.output_tokens;
    day.usd = one.usd === null || day.usd === null ? null : day.usd + one.usd;
  }
  return [...of.values()];
}
