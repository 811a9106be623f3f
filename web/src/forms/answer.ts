// What a person filled in, as the answer it makes; and what is wrong with it as
// far as that is plain, in their own language.

import type { Choice, Field } from './fields.ts';
import type { FormWords } from './words.ts';

/** What stands in the fields, by their paths: a text, of a choice its number, of several theirs. */
export type Entries = Record<string, string | boolean | string[]>;

/** Why a field cannot stay as it is, by its path; the empty path is the form. */
export type Wrong = Record<string, string>;

export function initialEntries(fields: Field[]): Entries {
  const entries: Entries = {};
  for (const field of fields) {
    if (field.kind === 'group') {
      const within = field.initial !== null && typeof field.initial === 'object' ? (field.initial as Record<string, unknown>) : {};
      Object.assign(entries, initialEntries(field.fields.map((one) => (one.name in within ? { ...one, initial: within[one.name] } : one))));
    } else entries[field.path] = initialEntry(field);
  }
  return entries;
}

function initialEntry({ kind, initial, choices }: Field): Entries[string] {
  const placeOf = (value: unknown) => choices.findIndex((choice) => same(choice, value));
  switch (kind) {
    case 'boolean':
      return initial === true;
    case 'many':
      return Array.isArray(initial) ? initial.map(placeOf).filter((n) => n >= 0).map(String) : [];
    case 'choice': {
      const chosen = placeOf(initial);
      return chosen < 0 ? '' : String(chosen);
    }
    case 'lines':
      return Array.isArray(initial) ? initial.join('\n') : '';
    case 'json':
      return initial === undefined ? '' : JSON.stringify(initial, null, 2);
    default:
      return initial === undefined || initial === null ? '' : String(initial);
  }
}

function same(choice: Choice, value: unknown): boolean {
  return value !== undefined && JSON.stringify(choice.value) === JSON.stringify(value);
}

/** The answer that the fields make, or what is wrong with them. */
export function answerOf(fields: Field[], entries: Entries, words: FormWords): { value: unknown; wrong: Wrong } {
  const wrong: Wrong = {};
  const [only] = fields;
  if (fields.length === 1 && only!.path === '') return { value: valueOf(only!, entries, words, wrong), wrong };
  return { value: objectOf(fields, entries, words, wrong), wrong };
}

function objectOf(fields: Field[], entries: Entries, words: FormWords, wrong: Wrong): Record<string, unknown> {
  const object: Record<string, unknown> = {};
  for (const field of fields) {
    const value = valueOf(field, entries, words, wrong);
    if (value === undefined) continue;
    // A name such as __proto__ is a member like any other.
    Object.defineProperty(object, field.name, { value, enumerable: true, configurable: true, writable: true });
  }
  return object;
}

/** What stands in a field; undefined: nothing, so that it is left out. */
function valueOf(field: Field, entries: Entries, words: FormWords, wrong: Wrong): unknown {
  if (field.kind === 'group') {
    if (!field.required && field.fields.every((one) => isEmpty(one, entries))) return undefined;
    return objectOf(field.fields, entries, words, wrong);
  }
  const entry = entries[field.path];
  if (field.kind === 'boolean') return entry === true;
  if (isEmpty(field, entries)) {
    if (!field.required) return undefined;
    // Nothing of a list may be an answer: the server knows.
    if (field.kind === 'many' || field.kind === 'lines') return (field.minLength ?? 0) > 0 ? missing(field, words, wrong) : [];
    return missing(field, words, wrong);
  }
  if (Array.isArray(entry)) return entry.map((n) => field.choices[Number(n)]?.value);
  return written(field, String(entry), words, wrong);
}

function missing(field: Field, words: FormWords, wrong: Wrong): undefined {
  wrong[field.path] = words.formMissing;
  return undefined;
}

function written(field: Field, entry: string, words: FormWords, wrong: Wrong): unknown {
  switch (field.kind) {
    case 'choice':
      return field.choices[Number(entry)]?.value;
    case 'number':
    case 'integer':
      return numberOf(field, entry, words, wrong);
    case 'lines':
      return entry.split('\n').map((line) => line.trim()).filter(Boolean);
    case 'json':
      try {
        return JSON.parse(entry) as unknown;
      } catch (error) {
        wrong[field.path] = words.formJson(error instanceof Error ? error.message : '');
        return undefined;
      }
    case 'text':
    case 'long': {
      const length = [...entry].length;
      if (field.minLength !== undefined && length < field.minLength) wrong[field.path] = words.formTooShort(field.minLength);
      if (field.maxLength !== undefined && length > field.maxLength) wrong[field.path] = words.formTooLong(field.maxLength);
      return entry;
    }
    default:
      return entry;
  }
}

function numberOf({ kind, path, min, max }: Field, entry: string, words: FormWords, wrong: Wrong): number {
  const value = Number(entry.trim().replace(',', '.'));
  if (!Number.isFinite(value)) wrong[path] = words.numberNeeded;
  else if (kind === 'integer' && !Number.isInteger(value)) wrong[path] = words.formWhole;
  else if (min !== undefined && value < min) wrong[path] = words.formAtLeast(min);
  else if (max !== undefined && value > max) wrong[path] = words.formAtMost(max);
  return value;
}

function isEmpty(field: Field, entries: Entries): boolean {
  if (field.kind === 'group') return field.fields.every((one) => isEmpty(one, entries));
  const entry = entries[field.path];
  if (Array.isArray(entry)) return entry.length === 0;
  return typeof entry === 'boolean' ? !entry : (entry ?? '').trim() === '';
}

/** What the server found, at the fields it is about: what lies within a field is the field's. */
export function wrongOf(fields: Field[], details: unknown): Wrong {
  const paths = fields.flatMap((field) => [field, ...field.fields]).filter((field) => field.kind !== 'group').map((field) => field.path);
  const wrong: Wrong = {};
  if (!Array.isArray(details)) return wrong;
  for (const one of details as { path?: unknown; message?: unknown }[]) {
    if (typeof one?.path !== 'string' || typeof one.message !== 'string') return {};
    const within = (path: string) => one.path === path || (one.path as string).startsWith(`${path}/`);
    const path = paths.filter(within).toSorted((a, b) => b.length - a.length)[0] ?? '';
    const place = path === '' && one.path !== '' ? `${one.path.slice(1)}: ` : '';
    wrong[path] = [wrong[path], place + one.message].filter(Boolean).join('; ');
  }
  return wrong;
}

/** An answer as a line of the conversation: each field with its title. */
export function wordsOf(fields: Field[], value: unknown): string {
  const [only] = fields;
  if (fields.length === 1 && only!.path === '') return said(only!, value);
  const object = (value ?? {}) as Record<string, unknown>;
  return fields
    .filter((field) => object[field.name] !== undefined)
    .map((field) => `${field.title}: ${said(field, object[field.name])}`)
    .filter((line) => !line.endsWith(': '))
    .join('; ');
}

function said(field: Field, value: unknown): string {
  if (field.kind === 'group') return `(${wordsOf(field.fields, value).replaceAll('; ', ', ')})`;
  if (Array.isArray(value)) return value.map((one) => said(field, one)).join(', ');
  if (typeof value === 'boolean') return value ? '✓' : '✗';
  const label = field.choices.find((choice) => same(choice, value))?.label;
  return label ?? (typeof value === 'string' ? value : JSON.stringify(value));
}
