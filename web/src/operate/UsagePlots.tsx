import type { Insights } from '../api/insights.ts';
import { language } from '../i18n/index.ts';
import { count, duration, money } from '../lib/format.ts';
import { useStore } from '../lib/store.ts';
import { Bars } from '../plot/Bars.tsx';
import { Lines } from '../plot/Lines.tsx';
import { openOf } from './figures.ts';
import { dayOf, short } from './UsageTiles.tsx';
import { useUsageWords } from './usageWords.ts';

interface Props {
  insights: Insights;
}

export function TurnsADay({ insights }: Props) {
  const words = useUsageWords();
  const locale = useStore(language);
  const days = insights.days;
  const most = days.reduce((best, day) => (day.turns > best.turns ? day : best), days[0]!);
  const write = (value: number) => count(value, locale);
  return (
    <Bars
      title={words.usageTurnsADay}
      summary={words.usageTurnsSummary(write(insights.turns), dayOf(most.date, locale, 'long'), write(most.turns))}
      series={[
        { name: words.usageAnswered, tone: 'main' },
        { name: words.usageFailed, tone: 'bad' },
        { name: words.usageGivenUp, tone: 'faint' },
        { name: words.usageOpen, tone: 'open' },
      ]}
      columns={days.map((day) => ({ label: dayOf(day.date, locale), values: [day.answered, day.failed, day.abandoned, openOf(day)] }))}
      least={2}
      write={write}
      table={{
        head: [words.usageDay, words.usageTurns, words.usageAnswered, words.usageFailed, words.usageGivenUp, words.usageOpen, words.usageAskers],
        rows: days.map((day) => [dayOf(day.date, locale), ...[day.turns, day.answered, day.failed, day.abandoned, openOf(day), day.people].map(write)]),
      }}
    />
  );
}

export function Durations({ insights }: Props) {
  const words = useUsageWords();
  const locale = useStore(language);
  const days = insights.days;
  const write = (value: number) => (value === 0 ? '0' : duration(value, locale));
  const dash = (value: number | null) => (value === null ? '–' : write(value));
  return (
    <Lines
      title={words.usageDurations}
      summary={words.usageDurationsSummary(dash(insights.times.median_ms), dash(insights.times.p90_ms))}
      series={[
        { name: words.usageMedian, tone: 'main' },
        { name: words.usageNinth, tone: 'faint' },
      ]}
      labels={days.map((day) => dayOf(day.date, locale))}
      values={[days.map((day) => day.times.median_ms), days.map((day) => day.times.p90_ms)]}
      write={write}
      table={{
        head: [words.usageDay, words.usageMedian, words.usageNinth, words.usageAnswered],
        rows: days.map((day) => [dayOf(day.date, locale), dash(day.times.median_ms), dash(day.times.p90_ms), count(day.times.known, locale)]),
      }}
    />
  );
}

/** How many answers took how long. */
export function Answers({ insights }: Props) {
  const words = useUsageWords();
  const locale = useStore(language);
  const write = (value: number) => count(value, locale);
  const bounds = insights.buckets.map((bucket) => bucket.under_ms);
  const columns = insights.buckets.map((bucket, index) => {
    const bound = bucket.under_ms ?? bounds[index - 1] ?? 0;
    return { label: `${bucket.under_ms === null ? '≥' : '<'} ${duration(bound, locale).replace(' min 0 s', ' min')}`, values: [bucket.turns] };
  });
  return (
    <Bars
      title={words.usageBuckets}
      summary={`${words.usageBuckets}: ${columns.map((column) => `${column.label} ${write(column.values[0]!)}`).join(', ')}`}
      series={[{ name: words.usageAnswered, tone: 'main' }]}
      columns={columns}
      least={2}
      write={write}
      table={{ head: [words.usageTook, words.usageAnswered], rows: columns.map((column) => [column.label, write(column.values[0]!)]) }}
    />
  );
}

/** What a day cost; where nothing has a price, how many tokens it used. */
export function Spending({ insights }: Props) {
  const words = useUsageWords();
  const locale = useStore(language);
  const priced = insights.used.cost_usd > 0;
  const write = (value: number) => (priced ? money(value, locale) : short(value, locale));
  const name = priced ? words.usageCost : words.usageTokens;
  return (
    <Bars
      title={priced ? words.usageCostADay : words.usageTokensADay}
      summary={words.usageSpendingSummary(write(priced ? insights.used.cost_usd : insights.used.tokens_used))}
      note={words.usageUTC}
      series={[{ name, tone: 'main' }]}
      columns={insights.days.map((day) => ({ label: dayOf(day.date, locale), values: [priced ? day.used.cost_usd : day.used.tokens_used] }))}
      least={priced ? 0.01 : 2}
      write={write}
      table={{
        head: [words.usageDay, words.usageTokens, words.usageCost],
        rows: insights.days.map((day) => [dayOf(day.date, locale), count(day.used.tokens_used, locale), money(day.used.cost_usd, locale)]),
      }}
    />
  );
}
