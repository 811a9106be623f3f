// Two JSON values side by side, line by line: unchanged runs folded, changed
// lines with the words that changed. Nodes and other items with an id are
// compared with the one of their id, wherever that stands.

import { diffJson, diffWordsWithSpace } from 'diff';
import { print } from '../code/print.ts';

export type Sign = '+' | '-' | ' ';

export interface Piece {
  text: string;
  changed: boolean;
}

export interface Row {
  sign: Sign;
  before: number; // line on that side; 0: it has none there
  after: number;
  pieces: Piece[];
}

export type Block = { kind: 'rows'; rows: Row[] } | { kind: 'fold'; rows: Row[] };

interface Line {
  sign: Sign;
  text: string;
}

export function rowsOf(before: unknown, after: unknown): Row[] {
  const lines = slide(linesOf(before, after));
  const rows = numbered(lines);
  markWords(rows);
  return rows;
}

/** A value that is not there at all has no lines. */
function textOf(value: unknown): string {
  return value === undefined ? '' : print(value);
}

function linesOf(before: unknown, after: unknown): Line[] {
  const named = listsOf(before).filter((name) => listsOf(after).includes(name));
  if (named.length === 0) return compared(textOf(before), textOf(after));
  const [old, now] = [partsOf(before, named), partsOf(after, named)];
  return aligned(
    old.map((part) => part.name),
    now.map((part) => part.name),
  ).flatMap(([a, b]) => {
    if (b === undefined) return old[a!]!.lines.map((text): Line => ({ sign: '-', text }));
    if (a === undefined) return now[b]!.lines.map((text): Line => ({ sign: '+', text }));
    return compared(old[a]!.lines.join('\n'), now[b]!.lines.join('\n'));
  });
}

/** A run of a document's lines that is an item of a list with ids, or what stands between those. */
interface Part {
  name: string;
  lines: string[];
}

const most = 1000; // items of a list that are followed by their ids

/** The members that are lists whose items all have an id of their own, such as nodes. */
function listsOf(value: unknown): string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  return Object.entries(value).flatMap(([name, list]) => {
    if (!Array.isArray(list) || list.length === 0 || list.length > most) return [];
    const ids = list.map((one: unknown) => (one as { id?: unknown } | null)?.id).filter((id) => typeof id === 'string' && id !== '');
    return new Set(ids).size === list.length ? [name] : [];
  });
}

/** The lines of a document, those of each item of the named lists by themselves. */
function partsOf(value: unknown, named: string[]): Part[] {
  const parts: Part[] = [{ name: '', lines: [] }];
  let list: { name: string; ids: string[] } | null = null;
  for (const line of textOf(value).split('\n')) {
    const opened: string | undefined = list ? undefined : named.find((name) => line === `  ${JSON.stringify(name)}: [`);
    if (list && /^ {2}\]/.test(line)) {
      parts.push({ name: `behind ${list.name}`, lines: [] });
      list = null;
    } else if (list && /^ {4}[^ \]}]/.test(line)) parts.push({ name: `${list.name} ${list.ids.shift()}`, lines: [] });
    parts.at(-1)!.lines.push(line);
    if (opened !== undefined) list = { name: opened, ids: (value as Record<string, { id: string }[]>)[opened]!.map((one) => one.id) };
  }
  return parts;
}

/** Places of two lists of names, side by side: as many of the same name as can be without changing their order. */
function aligned(a: string[], b: string[]): [number | undefined, number | undefined][] {
  const width = b.length + 1;
  const common = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      common[i * width + j] = a[i] === b[j] ? common[(i + 1) * width + j + 1]! + 1 : Math.max(common[(i + 1) * width + j]!, common[i * width + j + 1]!);
  const pairs: [number | undefined, number | undefined][] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) pairs.push([i++, j++]);
    else if (j === b.length || (i < a.length && common[(i + 1) * width + j]! >= common[i * width + j + 1]!)) pairs.push([i++, undefined]);
    else pairs.push([undefined, j++]);
  }
  return pairs;
}

function compared(before: string, after: string): Line[] {
  // jsdiff's JSON comparison takes text as it is, and takes lines that differ
  // in a trailing comma alone for the same.
  return diffJson(`${before}\n`, `${after}\n`).flatMap((part) => {
    const sign: Sign = part.added ? '+' : part.removed ? '-' : ' ';
    return part.value
      .replace(/\n$/, '')
      .split('\n')
      .filter((text, _at, all) => text !== '' || all.length > 1)
      .map((text) => ({ sign, text }));
  });
}

/**
 * Where lines that repeat let a change stand in several places, it stands
 * where it begins with the beginning of something: a whole object, not the
 * end of one and the start of the next.
 */
export function slide(lines: Line[]): Line[] {
  const out = lines.map((line) => ({ ...line }));
  for (let from = 0; from < out.length; from++) {
    const sign = out[from]!.sign;
    if (sign === ' ') continue;
    let to = from;
    while (to + 1 < out.length && out[to + 1]!.sign === sign) to++;
    const alone = (out[from - 1]?.sign ?? ' ') === ' ' && (out[to + 1]?.sign ?? ' ') === ' ';
    if (alone) move(out, from, to, best(out, from, to));
    from = to;
  }
  return out;
}

function best(lines: Line[], from: number, to: number): number {
  let [up, chosen, least] = [0, 0, cost(lines[from]!.text)];
  while (from - up - 1 >= 0 && lines[from - up - 1]!.sign === ' ' && bare(lines[from - up - 1]!.text) === bare(lines[to - up]!.text)) {
    up++;
    const price = cost(lines[from - up]!.text);
    if (price < least) [chosen, least] = [up, price];
  }
  return chosen;
}

function move(lines: Line[], from: number, to: number, up: number): void {
  const sign = lines[from]!.sign;
  for (let at = 0; at < up; at++) {
    lines[from - 1 - at]!.sign = sign;
    lines[to - at]!.sign = ' ';
  }
}

const bare = (text: string) => text.replace(/,$/, '');

/** Deep lines and closing brackets are bad places to begin. */
function cost(text: string): number {
  const indent = text.length - text.trimStart().length;
  return indent * 2 + (/^\s*[\]}]/.test(text) ? 1 : 0);
}

function numbered(lines: Line[]): Row[] {
  let [before, after] = [0, 0];
  return lines.map(({ sign, text }) => ({
    sign,
    before: sign === '+' ? 0 : ++before,
    after: sign === '-' ? 0 : ++after,
    pieces: [{ text, changed: false }],
  }));
}

/** Marks words in lines that were replaced, one for one. */
function markWords(rows: Row[]): void {
  for (let at = 0; at < rows.length; at++) {
    if (rows[at]!.sign !== '-') continue;
    let middle = at;
    while (rows[middle]?.sign === '-') middle++;
    let end = middle;
    while (rows[end]?.sign === '+') end++;
    for (let n = 0; n < Math.min(middle - at, end - middle); n++) compare(rows[at + n]!, rows[middle + n]!);
    at = Math.max(at, end - 1);
  }
}

const alike = 0.35; // of the letters; less in common is another line, not a changed one

function compare(old: Row, now: Row): void {
  const [a, b] = [old.pieces[0]!.text, now.pieces[0]!.text];
  const parts = diffWordsWithSpace(a, b);
  const common = parts.filter((part) => !part.added && !part.removed).reduce((sum, part) => sum + part.value.trim().length, 0);
  if (common < alike * Math.max(a.trim().length, b.trim().length)) return;
  old.pieces = parts.filter((part) => !part.added).map((part) => ({ text: part.value, changed: part.removed }));
  now.pieces = parts.filter((part) => !part.removed).map((part) => ({ text: part.value, changed: part.added }));
}

const around = 3; // unchanged lines shown beside a change

/** Cuts rows into what is shown and what is folded. */
export function fold(rows: Row[]): Block[] {
  const near = new Set<number>();
  rows.forEach((row, at) => {
    if (row.sign === ' ') return;
    for (let n = at - around; n <= at + around; n++) near.add(n);
  });
  const blocks: Block[] = [];
  rows.forEach((row, at) => {
    const kind = near.has(at) ? 'rows' : 'fold';
    const open = blocks.at(-1);
    if (open?.kind === kind) open.rows.push(row);
    else blocks.push({ kind, rows: [row] });
  });
  // A fold must hide more than the line it costs.
  return blocks.map((block) => (block.kind === 'fold' && block.rows.length < 3 ? { ...block, kind: 'rows' } : block));
}
