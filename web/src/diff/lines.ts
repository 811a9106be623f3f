// Two JSON values side by side, line by line: unchanged runs folded, changed
// lines with the words that changed.

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
  // jsdiff's JSON comparison takes text as it is, and takes lines that differ
  // in a trailing comma alone for the same.
  return diffJson(`${textOf(before)}\n`, `${textOf(after)}\n`).flatMap((part) => {
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
