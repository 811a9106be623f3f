// Figures as a page of decisions writes them: before → after, with a sign and
// whether that is good news.

import type { Language } from '../i18n/index.ts';
import { duration, money, regional } from '../lib/format.ts';
import type { Measured, Two } from '../api/changes.ts';

export type Tone = 'good' | 'bad' | 'plain';
export type Unit = 'count' | 'ms' | 'usd' | 'share' | 'weight';

/** What a change of a figure means. Of some figures, less is better; of the others neither. */
export function toneOf(two: Two, lessIsBetter: boolean): Tone {
  if (!lessIsBetter || two.before === two.after) return 'plain';
  return two.after > two.before ? 'bad' : 'good';
}

/** The difference with its sign: in percent where there is something to compare with, else in its own unit. */
export function difference(two: Two, unit: Unit, language: Language): string {
  const gap = two.after - two.before;
  if (gap === 0) return '';
  if (unit === 'share') return `${signed(Math.round(gap * 100), language)} pt`;
  if (unit === 'count') return signed(gap, language);
  if (two.before === 0) return '';
  const percent = Math.round((gap / two.before) * 100);
  return percent === 0 ? '' : `${signed(percent, language)} %`;
}

function signed(n: number, language: Language): string {
  return n.toLocaleString(language, { signDisplay: 'exceptZero', maximumFractionDigits: 2 }).replace('-', '−');
}

export function written(value: number, unit: Unit, language: Language): string {
  switch (unit) {
    case 'ms':
      return duration(value, language);
    case 'usd':
      return money(value, language);
    case 'share':
      return `${(value * 100).toLocaleString(language, { maximumFractionDigits: value > 0 && value < 0.1 ? 1 : 0 })} %`;
    default:
      return value.toLocaleString(language, { maximumFractionDigits: 2 });
  }
}

/** Whether a rate is as it should be; between the two, or of nothing, there is nothing to say. */
export function markOf(rate: number | null, bad: number, good: number): 'good' | 'bad' | null {
  if (rate === null) return null;
  return rate >= good ? 'good' : rate < bad ? 'bad' : null;
}

/** Turns that have not ended in any way: what a day's others leave of all of them. */
export function openOf(day: { turns: number; answered: number; failed: number; abandoned: number }): number {
  return Math.max(0, day.turns - day.answered - day.failed - day.abandoned);
}

/** Both figures; one where they are the same. */
export function arrow(two: Two, unit: Unit, language: Language): string {
  const [before, after] = [written(two.before, unit, language), written(two.after, unit, language)];
  return before === after ? after : `${before} → ${after}`;
}

/** The range a figure lies in. */
export function range(one: Measured, unit: Unit, language: Language): [string, string] {
  return [written(one.low, unit, language), written(one.high, unit, language)];
}

const steps: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];

/** How long ago, in the largest unit that fits. */
export function age(time: string, now: number, language: Language): string {
  const seconds = Math.max(0, (now - Date.parse(time)) / 1_000);
  // In German narrow is "vor 1 m", which nobody reads as a minute.
  const form = new Intl.RelativeTimeFormat(language, { numeric: 'auto', style: language === 'de' ? 'short' : 'narrow' });
  for (const [unit, size] of steps) if (seconds >= size) return form.format(-Math.floor(seconds / size), unit);
  return form.format(0, 'second');
}

/** A day and an hour, short. */
export function when(time: string, language: Language): string {
  return new Date(time).toLocaleString(regional(language), { day: 'numeric', month: 'short', hour: 'numeric', minute: '2-digit' });
}
