// A conversation as turns: what a person asked, what was asked back, and the
// answer. The server keeps messages; this groups them by the run they belong to.

import type { AnswerData, Citation, Interrupt, Message, Segment } from '../api/types.ts';
import type { Evidence } from './run.ts';

export interface Settled {
  key: string;
  question: string;
  answer: string | null; // null: skipped
  chosen: boolean; // out of options, rather than written
}

const choices: ReadonlySet<string> = new Set(['doc_choice', 'action_choice', 'retrieval_low']);

/** Whether a question of this type is answered with one of its options. */
export function isChoice(type: string): boolean {
  return choices.has(type);
}

export interface Turn {
  key: string;
  runID: string | null;
  user: Message | null;
  asked: Settled[];
  answer: Message | null;
}

const noticeType = 'pal_assist_prompt'; // INT-29

/**
 * The turns of a conversation. Those that are as they were before are the same
 * objects, so that a page draws again only what changed.
 */
export function turnsOf(messages: Message[], before: Turn[] = noTurns): Turn[] {
  const turns: Turn[] = [];
  for (const message of messages) {
    if (message.meta?.suppressed) continue;
    const run = message.run_id ?? null;
    let turn = turns.at(-1);
    const continues = turn !== undefined && run !== null && turn.runID === run;
    if (!turn || (!continues && (message.role === 'user' || turn.answer))) {
      // All versions of a turn stand in one place.
      turn = { key: message.versions?.ids[0] ?? message.id, runID: run, user: null, asked: [], answer: null };
      turns.push(turn);
    }
    place(turn, message);
  }
  if (before.length === 0) return turns;
  const known = new Map(before.map((turn) => [turn.key, turn]));
  return turns.map((turn) => {
    const old = known.get(turn.key);
    return old && same(old, turn) ? old : turn;
  });
}

const noTurns: Turn[] = [];

/** turnsOf, with what it gave before. */
export function createGrouping(): (messages: Message[]) => Turn[] {
  let before = noTurns;
  return (messages) => (before = turnsOf(messages, before));
}

function same(a: Turn, b: Turn): boolean {
  return (
    a.runID === b.runID &&
    a.user === b.user &&
    a.answer === b.answer &&
    a.asked.length === b.asked.length &&
    a.asked.every((one, n) => one.key === b.asked[n]!.key && one.answer === b.asked[n]!.answer && one.question === b.asked[n]!.question)
  );
}

/** The turns a page shows: one that an earlier page may have the beginning of waits for it. */
export function wholeTurns(turns: Turn[], moreBefore: boolean): Turn[] {
  return moreBefore && turns.length > 1 ? turns.slice(1) : turns;
}

/** The turns that stand while words are on their way that replace one of them. */
export function withoutFrom(turns: Turn[], replaced: string | undefined): Turn[] {
  const at = replaced ? turns.findIndex((turn) => turn.user?.id === replaced) : -1;
  return at < 0 ? turns : turns.slice(0, at);
}

function place(turn: Turn, message: Message): void {
  turn.runID ??= message.run_id ?? null;
  if (message.role === 'assistant') turn.answer = message;
  else if (message.role === 'system' && message.meta?.type === noticeType) {
    const chosen = isChoice(String(message.meta.interrupt_type ?? ''));
    turn.asked.push({ key: message.id, question: message.content, answer: null, chosen });
  } else if (message.role === 'user') {
    const open = turn.asked.findLast((asked) => asked.answer === null);
    if (turn.user && open) open.answer = open.chosen ? unadorned(message.content) : message.content;
    else turn.user ??= message;
  }
}

// Steps in which a model speaks are the answer itself, not evidence for it;
// the event log does not show them as tools either.
const speaks = /^(llm\.|rag\.answer_)/;

/** The tool evidence a stored answer carries (CHAT-07). */
export function evidenceOf(message: Message | null): Evidence[] {
  return (message?.content_struct?.segments ?? [])
    .filter((segment: Segment) => segment.type === 'tool_call' && !speaks.test(segment.name ?? ''))
    .map((segment, index) => ({
      kind: 'tool' as const,
      key: `${message!.id}.${index}`,
      name: segment.name ?? '',
      args: segment.arguments,
      status: segment.status === 'error' ? ('error' as const) : ('ok' as const),
      summary: toldIn(segment.meta) || summaryOf(segment.result),
      result: segment.result,
      ms: segment.duration_ms ?? null,
    }));
}

/** A result in a few words, as its tool's spec shows it (GRND-20). */
function toldIn(meta: unknown): string {
  return summaryOf(meta);
}

/** The words that stand in an answer for what was taken out of it (SAFE-03), each once. */
export function removedFrom(segments: Segment[] | null | undefined): string[] {
  const marks = (segments ?? []).filter((segment) => segment.type === 'redaction').map((segment) => segment.text ?? '');
  return [...new Set(marks)].filter(Boolean);
}

export type Confidence = 'high' | 'medium' | 'low';

/** How well the documents carry an answer, where its graph says so (UI-28). */
export function confidenceOf(data: AnswerData | undefined): Confidence | null {
  const level = data?.retrieval_confidence;
  return level === 'high' || level === 'medium' || level === 'low' ? level : null;
}

/** The headings above a passage, without the document's own title that stands beside them. */
export function headingOf(citation: Citation): string {
  const heading = citation.heading ?? '';
  if (heading === citation.title) return '';
  const prefix = `${citation.title} › `;
  return heading.startsWith(prefix) ? heading.slice(prefix.length) : heading;
}

/** Quoted words as one line: of a row of a table its cells, without the lines between them. */
export function onOneLine(quote: string): string {
  if (!/^\s*\|.*\|\s*$/s.test(quote)) return quote;
  const rows = quote.trim().split('\n').filter((row) => !/^[\s|:-]+$/.test(row));
  return rows.map((row) => row.split('|').map((cell) => cell.trim()).filter(Boolean).join(' · ')).join('; ');
}

function summaryOf(result: unknown): string {
  const summary = (result as { summary?: unknown } | null | undefined)?.summary;
  return typeof summary === 'string' ? summary : '';
}

/** The words that stand for an answer in the record. */
export function answerWords(interrupt: Interrupt, value: string | null): string | null {
  if (value === null) return null;
  const label = interrupt.options?.find((option) => option.id === value)?.label;
  return label === undefined ? value : unadorned(label);
}

/** A label without the pictograph before it: the page draws its own, and a font may not have it. */
export function unadorned(label: string): string {
  return label.replace(/^\p{Extended_Pictographic}\uFE0F?\s+/u, '');
}
