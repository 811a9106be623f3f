// The operations (RFC 6902) that make one document another. Items of lists
// that have ids are followed by them, so that a node put in between is one
// operation and not a change of every node behind it.

import type { Operation } from '../api/changes.ts';

type Members = Record<string, unknown>;

export function patchBetween(before: unknown, after: unknown): Operation[] {
  const patch: Operation[] = [];
  compare(before, after, '', patch);
  return patch;
}

export function same(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((one, at) => same(one, b[at]));
  if (!members(a) || !members(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && same(a[key], b[key]));
}

function members(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function compare(before: unknown, after: unknown, path: string, patch: Operation[]): void {
  if (same(before, after)) return;
  if (members(before) && members(after)) return compareMembers(before, after, path, patch);
  if (Array.isArray(before) && Array.isArray(after)) {
    const [old, now] = [idsOf(before), idsOf(after)];
    return old && now ? compareNamed(before, old, after, now, path, patch) : compareList(before, after, path, patch);
  }
  patch.push({ op: 'replace', path, value: after });
}

function compareMembers(before: Members, after: Members, path: string, patch: Operation[]): void {
  for (const key of Object.keys(before)) if (!Object.hasOwn(after, key)) patch.push({ op: 'remove', path: below(path, key) });
  for (const [key, value] of Object.entries(after)) {
    if (Object.hasOwn(before, key)) compare(before[key], value, below(path, key), patch);
    else patch.push({ op: 'add', path: below(path, key), value });
  }
}

function below(path: string, key: string | number): string {
  return `${path}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** The ids of a list's items; null when one has none, or two have the same. */
function idsOf(list: unknown[]): string[] | null {
  const ids = list.map((one) => (members(one) && typeof one['id'] === 'string' ? one['id'] : ''));
  return list.length > 0 && ids.every((id) => id !== '') && new Set(ids).size === ids.length ? ids : null;
}

function compareNamed(before: unknown[], old: string[], after: unknown[], now: string[], path: string, patch: Operation[]): void {
  const ids = [...old];
  const items = [...before];
  const kept = new Set(now);
  for (let at = ids.length - 1; at >= 0; at--) {
    if (kept.has(ids[at]!)) continue;
    ids.splice(at, 1);
    items.splice(at, 1);
    patch.push({ op: 'remove', path: below(path, at) });
  }
  now.forEach((id, at) => {
    const from = ids.indexOf(id);
    if (from < 0) {
      ids.splice(at, 0, id);
      items.splice(at, 0, after[at]);
      patch.push({ op: 'add', path: below(path, at), value: after[at] });
    } else if (from !== at) {
      ids.splice(at, 0, ids.splice(from, 1)[0]!);
      items.splice(at, 0, items.splice(from, 1)[0]);
      patch.push({ op: 'move', from: below(path, from), path: below(path, at) });
    }
  });
  now.forEach((_, at) => compare(items[at], after[at], below(path, at), patch));
}

/** What begins and ends alike stays; of the rest, one item becomes another in turn. */
function compareList(before: unknown[], after: unknown[], path: string, patch: Operation[]): void {
  let head = 0;
  while (head < before.length && head < after.length && same(before[head], after[head])) head++;
  let tail = 0;
  while (tail < before.length - head && tail < after.length - head && same(before.at(-1 - tail), after.at(-1 - tail))) tail++;
  const [old, now] = [before.length - tail, after.length - tail];
  const both = Math.min(old, now);
  for (let at = head; at < both; at++) compare(before[at], after[at], below(path, at), patch);
  for (let at = old - 1; at >= both; at--) patch.push({ op: 'remove', path: below(path, at) });
  for (let at = both; at < now; at++) patch.push({ op: 'add', path: below(path, at), value: after[at] });
}
