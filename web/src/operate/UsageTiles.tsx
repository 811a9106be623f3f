import type { ReactNode } from 'react';
import type { Insights } from '../api/insights.ts';
import { language, type Language } from '../i18n/index.ts';
import { count, duration, money, regional } from '../lib/format.ts';
import { useStore } from '../lib/store.ts';
import { markOf, written } from './figures.ts';
import { useUsageWords } from './usageWords.ts';

/** The figures of all days together. A rate of nothing is a dash. */
export function Tiles({ insights }: { insights: Insights }) {
  const words = useUsageWords();
  const locale = useStore(language);
  const { times, used } = insights;
  const rate = (value: number | null) => (value === null ? '–' : written(value, 'share', locale));
  const plain = (value: number | null) => (value === null ? '–' : written(value, 'count', locale));
  return (
    <dl className="tiles">
      <Tile name={words.usageTurns} value={count(insights.turns, locale)} mark={markOf(insights.turns_per_working_day, 1, 3)} says={words.usageTurnsMark}>
        {words.usagePeople(insights.people)}
        {insights.turns_per_working_day !== null && ` · ${words.usageWorkingDay(plain(insights.turns_per_working_day))}`}
      </Tile>
      <Tile name={words.usageMedian} value={times.median_ms === null ? '–' : duration(times.median_ms, locale)}>
        {times.p90_ms !== null && words.usageP90(duration(times.p90_ms, locale))}
      </Tile>
      <Tile name={words.usageToolUse} value={rate(insights.tool_use_rate)} mark={markOf(insights.tool_use_rate, 0.3, 0.5)} says={words.usageMark}>
        {insights.tool_calls_per_turn !== null && words.usageCalls(plain(insights.tool_calls_per_turn))}
        {few(insights.tool_calls_per_turn) && <b data-tone="bad"> {words.usageFewCalls}</b>}
      </Tile>
      <Tile name={words.usageAbandoned} value={rate(insights.abandonment_rate)}>
        {words.usageAbandonedMore}
      </Tile>
      <Tile name={words.usageTokens} value={short(used.tokens_used, locale)}>
        {words.usageModelCalls(used.calls, count(used.calls, locale))}
      </Tile>
      <Tile name={words.usageCost} value={money(used.cost_usd, locale)}>
        {used.cost_usd === 0 && words.usageNoPrice}
      </Tile>
    </dl>
  );
}

/** Whether turns call so few tools that somebody should look why. */
const few = (calls: number | null) => calls !== null && calls < 1.5;

interface TileProps {
  name: string;
  value: string;
  mark?: 'good' | 'bad' | null;
  says?(mark: 'good' | 'bad'): string;
  children: ReactNode;
}

function Tile({ name, value, mark, says, children }: TileProps) {
  return (
    <div className="tile">
      <dt>{name}</dt>
      <dd>{value}</dd>
      <dd className="hint">
        {mark && <b data-tone={mark}>{says?.(mark)} </b>}
        {children}
      </dd>
    </div>
  );
}

/** A large number in few digits. */
export function short(n: number, locale: Language): string {
  return n.toLocaleString(locale, { notation: n < 10_000 ? 'standard' : 'compact', maximumFractionDigits: 1 });
}

/** A day of the calendar, which is of no time zone. */
export function dayOf(date: string, locale: Language, form: 'short' | 'long' = 'short'): string {
  return new Date(`${date}T00:00:00Z`).toLocaleDateString(regional(locale), { timeZone: 'UTC', day: 'numeric', month: form });
}
