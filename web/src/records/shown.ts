// Records of a tool's result as people read them: the same lines as an answer's
// (tool.Shown, on the server).

import type { DataShown } from '../api/gen.ts';
import type { Language } from '../i18n/index.ts';

export interface Row {
  id: string;
  entity: string;
  line: string;
  title: string;
}

export interface Part {
  key: string;
  heading: string;
  empty: string;
  rows: Row[];
}

/** The parts of a result, in the order they are to be told. */
export function partsOf(output: unknown, shows: DataShown[], language: Language): Part[] {
  return shows.map((shown, index) => ({
    key: `${index}.${shown.in}`,
    heading: inLanguage(shown.heading, language),
    empty: inLanguage(shown.empty, language),
    rows: recordsIn(output, shown.in).flatMap((values) => rowOf(values, shown, language)),
  }));
}

/** A record a source says is not there, or not this person's to see. */
export function isMissing(output: unknown): boolean {
  return isObject(output) && Object.keys(output).length === 1 && output['error'] === 'not found';
}

function rowOf(values: Record<string, unknown>, shown: DataShown, language: Language): Row[] {
  const called = calledIn(values, shown.values, language);
  const line = fill(inLanguage(shown.line, language), called, language);
  if (!line) return [];
  const title = fill(inLanguage(shown.title, language), called, language) || line;
  return [{ id: textOf(values[shown.id], null), entity: shown.entity, line, title }];
}

/** A record with its values as the tool's document calls them; any other reads as it is. */
function calledIn(values: Record<string, unknown>, names: DataShown['values'], language: Language): Record<string, unknown> {
  const called = Object.entries(names).map(([member, of]) => [member, inLanguage(of[String(values[member])] ?? {}, language) || values[member]]);
  return { ...values, ...Object.fromEntries(called) };
}

function recordsIn(output: unknown, member: string): Record<string, unknown>[] {
  const found = member === '' ? output : isObject(output) ? output[member] : undefined;
  return (Array.isArray(found) ? found : [found]).filter(isObject);
}

export function inLanguage(texts: Record<string, string>, language: Language): string {
  return texts[language] ?? texts[''] ?? texts['en'] ?? Object.values(texts)[0] ?? '';
}

/** Writes values into a line: {name} is a member, and a part in [square brackets] falls away when a member in it is empty. */
export function fill(line: string, values: Record<string, unknown>, language: Language): string {
  const whole = line.replace(/\[[^[\]]*\]/g, (part) =>
    [...part.matchAll(/\{([a-z][a-z0-9_]*)\}/g)].every((name) => textOf(values[name[1]!], language) !== '') ? part.slice(1, -1) : '',
  );
  return whole.replace(/\{([a-z][a-z0-9_]*)\}/g, (_, name: string) => textOf(values[name], language)).trim();
}

function textOf(value: unknown, language: Language | null): string {
  if (typeof value === 'string') return language ? dated(value, language) : value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}

/** Days and times as the server writes them in lines. */
function dated(text: string, language: Language): string {
  const parts = /^(\d{4})-(\d{2})-(\d{2})(?:T(\d{2}:\d{2}))?$/.exec(text);
  if (!parts) return text;
  const [, year, month, day, time] = parts;
  if (language === 'de') return `${day}.${month}.${year}${time ? `, ${time}` : ''}`;
  return time ? `${year}-${month}-${day} ${time}` : text;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Where a record's page is: the firm's own, or one here. */
export function pageOf(source: string, entity: { name: string; href?: string }, id: string): string {
  if (entity.href) return entity.href.replaceAll('{id}', encodeURIComponent(id));
  return `/r/${encodeURIComponent(source)}/${encodeURIComponent(entity.name)}/${encodeURIComponent(id)}`;
}

/** Addresses a chip may lead to: pages of this program, or of another over https. */
export function isPage(href: string): boolean {
  return /^\/(?![/\\])/.test(href) || href.startsWith('https://');
}
