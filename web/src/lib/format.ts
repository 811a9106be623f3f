import type { Language } from '../i18n/index.ts';

/**
 * How times and days are written: in the language of the page, as where the
 * reader is. An English page has 14:02 in London and 2:02 PM in New York.
 */
export function regional(language: Language): string {
  const wanted = typeof navigator === 'undefined' ? [] : navigator.languages;
  return wanted.find((one) => one.toLowerCase().split('-')[0] === language) ?? language;
}

export function duration(ms: number, language: Language): string {
  if (ms < 1) return '< 1 ms';
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 60) return `${seconds.toLocaleString(language, { maximumFractionDigits: 1 })} s`;
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}

export function fileSize(bytes: number, language: Language): string {
  const units = ['B', 'KB', 'MB', 'GB'];
  let size = bytes;
  let unit = 0;
  while (size >= 1024 && unit < units.length - 1) {
    size /= 1024;
    unit++;
  }
  return `${size.toLocaleString(language, { maximumFractionDigits: size < 10 && unit > 0 ? 1 : 0 })} ${units[unit]}`;
}

const familiar = ['pdf', 'docx', 'pptx', 'xlsx', 'md', 'txt'];

/** The kinds of file in a few words: the familiar ones, and how many more there are. */
export function kindsOfFile(extensions: string[], andMore: (n: number) => string): string {
  const all = extensions.map((name) => name.replace(/^\./, '').toLowerCase());
  const named = familiar.filter((name) => all.includes(name));
  if (named.length === 0 || all.length <= familiar.length) return all.map((name) => `.${name}`).join(', ');
  const rest = all.length - named.length;
  return named.map((name) => `.${name}`).join(', ') + (rest > 0 ? ` ${andMore(rest)}` : '');
}

/** Whole days between a time and now, by the calendar. */
export function daysAgo(time: string, now: Date): number {
  const then = new Date(time);
  const midnight = (date: Date) => Date.UTC(date.getFullYear(), date.getMonth(), date.getDate());
  return Math.round((midnight(now) - midnight(then)) / 86_400_000);
}

/** A short stamp: the hour for today, else the day. */
export function stamp(time: string, now: Date, language: Language): string {
  const date = new Date(time);
  if (daysAgo(time, now) === 0) return date.toLocaleTimeString(regional(language), { hour: 'numeric', minute: '2-digit' });
  const year = date.getFullYear() === now.getFullYear() ? {} : { year: 'numeric' as const };
  return date.toLocaleDateString(regional(language), { month: 'short', day: 'numeric', ...year });
}

export function count(n: number, language: Language): string {
  return n.toLocaleString(language);
}

/** US dollars: cents, and finer where a cent is more than it was. */
export function money(usd: number, language: Language): string {
  const fine = usd > 0 && usd < 0.1;
  const least = 0.0001;
  const text = Math.max(usd, fine ? least : 0).toLocaleString(language, {
    style: 'currency',
    currency: 'USD',
    minimumFractionDigits: 2,
    maximumFractionDigits: fine ? 4 : 2,
  });
  return fine && usd < least ? `< ${text}` : text;
}

/** A day and an hour, where the reader is. */
export function moment(time: number, language: Language): string {
  return new Date(time).toLocaleString(regional(language), { month: 'long', day: 'numeric', hour: 'numeric', minute: '2-digit' });
}

/** A time to the second, for what happens soon; with its day where that is not today. */
export function clock(time: number, now: Date, language: Language): string {
  const date = new Date(time);
  if (daysAgo(date.toISOString(), now) !== 0) return moment(time, language);
  return date.toLocaleTimeString(regional(language), { hour: 'numeric', minute: '2-digit', second: '2-digit' });
}
