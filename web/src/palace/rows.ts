// A history as rows: its turns, the blocks of each, and the epochs between them.

import type { Block, Epoch } from '../api/palace.ts';
import { nameOf, typeOf, type Type } from './figures.ts';

export type Row =
  | { kind: 'turn'; key: string; number: number; says: string; time: string; blocks: number; tokens: number; exchange: string }
  | { kind: 'block'; key: string; block: Block; aside: boolean }
  | { kind: 'epoch'; key: string; epoch: Epoch };

export interface Filter {
  type: Type | ''; // '': any
  words: string;
  aside: boolean; // only what is set aside
}

export const everything: Filter = { type: '', words: '', aside: false };

/** The blocks that the newest epoch has set aside, as plans name them. */
export function asideOf(epochs: readonly Epoch[]): Set<string> {
  const last = epochs.at(-1);
  return new Set(last && !last.ended ? (last.replace ?? []).map((one) => one.block) : []);
}

/** What a client puts between the words of people: notes to its model, in tags. */
export const isNote = (block: Block) => block.block_type === 'User' && block.label.startsWith('<');
const isWords = (block: Block) => block.block_type === 'User' && !isNote(block);

/** Where turns begin: at the words of a person, or of who sent the agent, with the notes before them. */
function turnsOf(blocks: readonly Block[]): Set<number> {
  const begin = new Set([0]);
  let notes = -1; // where those begin that stand right before
  let words = true; // the last block that was no note was a person's
  blocks.forEach((block, at) => {
    if (isNote(block)) {
      if (notes < 0) notes = at;
      return;
    }
    if (isWords(block) && !words) begin.add(notes < 0 ? at : notes);
    words = isWords(block);
    notes = -1;
  });
  return begin;
}

export function rowsOf(blocks: readonly Block[], epochs: readonly Epoch[], filter: Filter): Row[] {
  const aside = asideOf(epochs);
  const words = filter.words.trim().toLowerCase();
  const takes = (block: Block, set: boolean) =>
    (filter.type === '' || typeOf(block.block_type) === filter.type) &&
    (!filter.aside || set) &&
    (words === '' || `${block.label} ${block.tool} ${nameOf(block)}`.toLowerCase().includes(words));
  const rows: Row[] = [];
  let turn: Extract<Row, { kind: 'turn' }> | null = null;
  const begin = turnsOf(blocks);
  let number = 0;
  let next = 0;
  blocks.forEach((block, at) => {
    const time = at > 0 ? Date.parse(block.created_at) : 0; // no epoch is before everything
    for (; next < epochs.length && Date.parse(epochs[next]!.opened_at) <= time; next++) rows.push(lineOf(epochs[next]!));
    if (turn === null || begin.has(at)) {
      turn = { kind: 'turn', key: `turn ${at}`, number: ++number, says: '', time: block.created_at, blocks: 0, tokens: 0, exchange: block.exchange };
      rows.push(turn);
    }
    if (turn.says === '' && isWords(block)) turn.says = block.label;
    const set = aside.has(nameOf(block));
    if (!takes(block, set)) return;
    turn.blocks++;
    turn.tokens += block.tokens;
    rows.push({ kind: 'block', key: `${at} ${block.uuid}`, block, aside: set });
  });
  rows.push(...epochs.slice(next).map(lineOf));
  return rows.filter((row) => row.kind !== 'turn' || row.blocks > 0);
}

function lineOf(epoch: Epoch): Row {
  return { kind: 'epoch', key: `epoch ${epoch.number}`, epoch };
}

/** How long the bar of a block is, in percent: by the root of its tokens, so that the small are seen beside the large. */
export function weightOf(tokens: number, most: number): number {
  if (tokens <= 0 || most <= 0) return 0;
  return Math.max(2, Math.round(Math.sqrt(tokens / most) * 100));
}
