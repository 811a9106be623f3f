// What a reader knows of one run: its events folded into what is on the rail.
// Pure, so that a replay from the start gives the same picture as living it.

import type { AnswerData, Citation, DataOf, Interrupt, RunEvent, RunProblem, Segment, Usage } from '../api/types.ts';
import { chipsOf, withChip, type Chip } from './chips.ts';

export interface Step {
  kind: 'step';
  key: string;
  node: string;
  label: string;
  done: boolean;
  docs: { id: string; title: string }[];
  query: string;
}

export interface Evidence {
  kind: 'tool';
  key: string;
  name: string;
  args: unknown;
  status: 'running' | 'ok' | 'error';
  summary: string;
  result: unknown; // the whole of it, where it is known
  ms: number | null;
}

export interface Asked {
  kind: 'ask';
  key: string;
  interrupt: Interrupt;
  settled: boolean; // the run went on; the words of the answer may be known elsewhere
}

export type RailItem = Step | Evidence | Asked;
export type Phase = 'working' | 'waiting' | 'done' | 'failed' | 'stopped';

export interface Done {
  messageID: string;
  citations: Citation[];
  usage: Usage;
  model: string;
  truncated: boolean;
  suppressed: boolean;
  heeded: boolean; // what the person's words say of an answer is being noted
  segments: Segment[];
  data: AnswerData;
}

export interface RunState {
  phase: Phase;
  seq: number;
  items: RailItem[];
  text: string;
  chips: Chip[]; // that go with the text
  gap: boolean; // the log could not give the beginning; the end brings the whole text
  done: Done | null;
  error: RunProblem | null;
}

export const emptyRun: RunState = {
  phase: 'working',
  seq: 0,
  items: [],
  text: '',
  chips: [],
  gap: false,
  done: null,
  error: null,
};

/** Adds one event. An event that was seen before, or of an unknown kind, changes nothing. */
export function fold(state: RunState, event: RunEvent): RunState {
  if (event.seq > 0 && event.seq <= state.seq) return state;
  const next = { ...state, seq: Math.max(state.seq, event.seq) };
  switch (event.kind) {
    case 'status':
      return { ...next, phase: 'working', items: addStatus(state.items, event) };
    case 'tool_call':
      return { ...next, items: addCall(state.items, event) };
    case 'tool_result':
      return { ...next, items: addResult(state.items, event.data) };
    case 'token':
      return { ...next, phase: 'working', text: state.text + (event.data ?? '') };
    case 'reset':
      return { ...next, text: '', chips: [], gap: event.data?.reason === 'gap' };
    case 'chip':
      return { ...next, chips: withChip(state.chips, { href: event.data?.href ?? '', label: event.data?.label || (event.data?.href ?? '') }) };
    case 'interrupt':
      return { ...next, items: addAsked(state.items, event.data as Interrupt) };
    case 'paused':
      return { ...next, phase: 'waiting' }; // its step goes on once there is an answer
    case 'resumed':
      return { ...next, phase: 'working', items: settleAsked(state.items, event.data?.interrupt_id ?? '') };
    case 'message_done':
      return finish(next, event.data ?? {});
    case 'error':
      return { ...next, phase: 'failed', error: problemOf(event.data ?? {}), items: settleAll(state.items) };
    case 'cancel_ack':
      return { ...next, phase: 'stopped', text: event.data?.content || state.text, items: settleAll(state.items) };
    default:
      return next;
  }
}

function problemOf(data: Partial<RunProblem>): RunProblem {
  const until = data.retry_at ? { retry_at: data.retry_at } : {};
  return { code: data.code ?? '', message: data.message ?? '', reason: data.reason ?? '', ...(data.said && { said: data.said }), ...until };
}

function finish(state: RunState, data: Partial<DataOf<'message_done'>>): RunState {
  return {
    ...state,
    phase: 'done',
    text: data.content ?? '',
    chips: chipsOf(data.content_struct?.segments),
    gap: false,
    items: settleAll(state.items),
    done: {
      messageID: data.message_id ?? '',
      citations: data.citations ?? [],
      usage: data.usage ?? {},
      model: data.model ?? '',
      truncated: data.truncated === true,
      suppressed: data.suppressed === true,
      heeded: data.heeded === true,
      segments: data.content_struct?.segments ?? [],
      data: (data.data as AnswerData | null | undefined) ?? {},
    },
  };
}

function addStatus(items: RailItem[], event: Extract<RunEvent, { kind: 'status' }>): RailItem[] {
  const { data } = event;
  const node = data.node || (event.node ?? '');
  const open = openStep(items, node);
  const facts = {
    ...(data.message ? { label: data.message } : {}),
    ...(Array.isArray(data.docs_found) ? { docs: data.docs_found } : {}), // once it was their number
    ...(data.web_query ? { query: data.web_query } : {}),
  };
  if (open >= 0) return items.with(open, { ...(items[open] as Step), ...facts, done: data.done === true });
  const step: Step = { kind: 'step', key: `s${event.seq}`, node, label: node, done: data.done === true, docs: [], query: '' };
  return [...items, { ...step, ...facts }];
}

/** The step that goes on: one that is not done, or the latest, which a question or a loop comes back to. */
function openStep(items: RailItem[], node: string): number {
  const open = items.findLastIndex((item) => item.kind === 'step' && item.node === node && !item.done);
  if (open >= 0) return open;
  const latest = items.findLastIndex((item) => item.kind === 'step');
  return stepsOf(items).at(-1)?.node === node ? latest : -1;
}

function addCall(items: RailItem[], { data, seq }: Extract<RunEvent, { kind: 'tool_call' }>): RailItem[] {
  const key = data.id || `t${seq}`;
  if (items.some((item) => item.kind === 'tool' && item.key === key)) return items;
  const call: Evidence = { kind: 'tool', key, name: data.name, args: data.arguments, status: 'running', summary: '', result: undefined, ms: null };
  return [...items, call];
}

function addResult(items: RailItem[], data: DataOf<'tool_result'>): RailItem[] {
  const at = items.findLastIndex((item) => item.kind === 'tool' && item.key === data.id);
  if (at < 0) return items;
  const status = data.status === 'error' ? 'error' : 'ok';
  return items.with(at, { ...(items[at] as Evidence), status, summary: data.summary ?? '', ms: data.duration_ms ?? null });
}

function addAsked(items: RailItem[], interrupt: Interrupt): RailItem[] {
  if (items.some((item) => item.kind === 'ask' && item.key === interrupt.interrupt_id)) return items;
  return [...items, { kind: 'ask', key: interrupt.interrupt_id, interrupt, settled: false }];
}

function settleSteps(items: RailItem[]): RailItem[] {
  return items.map((item) => (item.kind === 'step' && !item.done ? { ...item, done: true } : item));
}

function settleAsked(items: RailItem[], id: string): RailItem[] {
  return items.map((item) => (item.kind === 'ask' && (id === '' || item.key === id) ? { ...item, settled: true } : item));
}

/** At the end nothing may look as if it were still going on. */
function settleAll(items: RailItem[]): RailItem[] {
  return settleSteps(items).map((item) => {
    if (item.kind === 'ask') return { ...item, settled: true };
    if (item.kind === 'tool' && item.status === 'running') return { ...item, status: 'error' as const };
    return item;
  });
}

/** What a step says of itself; empty where it has only its node's name. */
export function saidBy(step: Step | undefined): string {
  return step && step.label !== step.node ? step.label : '';
}

export function stepsOf(items: RailItem[]): Step[] {
  return items.filter((item) => item.kind === 'step');
}
