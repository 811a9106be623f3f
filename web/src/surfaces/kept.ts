// Conversations of which the server keeps nothing: they live in this browser
// only, each person's own, until they sign out or begin anew (GRND-47).

import { session } from '../api/session.ts';
import type { Message } from '../api/types.ts';
import { readItem, writeItem } from '../lib/storage.ts';
import { createStore } from '../lib/store.ts';
import type { RunState } from '../chat/run.ts';

const key = 'liminal.kept'; // forgetPerson.ts knows it, too
const mostMessages = 60;
const mostHistory = 200_000; // bytes; the server takes 256 KiB

export interface Kept {
  messages: Message[];
  /** The run that answers; null: none is under way. */
  active: { run: string; conversation: string } | null;
}

const nothing: Kept = { messages: [], active: null };

/** By the path of the assistant, of whoever is signed in. */
export const kept = createStore<Record<string, Kept>>(read());

/** Only one's own is read; another person's is not even left to lie here. */
function read(): Record<string, Kept> {
  const owner = session.get().user?.id;
  const text = readItem('local', key);
  if (text === null || owner === undefined) return {};
  try {
    const value = JSON.parse(text) as { owner?: unknown; by?: unknown };
    if (value.owner === owner && value.by && typeof value.by === 'object') return value.by as Record<string, Kept>;
  } catch {
    // Nobody's words: they go.
  }
  writeItem('local', key, null);
  return {};
}

function write(path: string, next: Kept): void {
  const owner = session.get().user?.id;
  if (owner === undefined) return;
  const { [path]: _, ...others } = kept.get();
  const by = next.messages.length === 0 ? others : { ...others, [path]: { ...next, messages: next.messages.slice(-mostMessages) } };
  kept.set(by);
  writeItem('local', key, Object.keys(by).length > 0 ? JSON.stringify({ owner, by }) : null);
}

export function keptOf(all: Record<string, Kept>, path: string): Kept {
  return all[path] ?? nothing;
}

// Whoever leaves takes theirs along, and other pages of this browser hear of it.
let last = session.get().user?.id;
session.subscribe(() => {
  const now = session.get().user?.id;
  if (now === last) return;
  last = now;
  kept.set(now === undefined ? {} : read());
});
globalThis.addEventListener?.('storage', (event: StorageEvent) => {
  if (event.key === key || event.key === null) kept.set(read());
});

export function begin(path: string): void {
  write(path, nothing);
}

/** A question was accepted, and is being answered. */
export function asked(path: string, text: string, accepted: { user_message_id: string; run_id: string; conversation_id: string }): void {
  const { messages } = keptOf(kept.get(), path);
  const { user_message_id: id, run_id: run, conversation_id: conversation } = accepted;
  if (messages.some((one) => one.id === id)) return;
  write(path, { messages: [...messages, message(messages, { id, role: 'user', content: text, run_id: run })], active: { run, conversation } });
}

/** The run that answers is over, and this is how it ended; null: it cannot be read any more. */
export function settled(path: string, run: string, state: RunState | null): void {
  const { messages, active } = keptOf(kept.get(), path);
  if (active?.run !== run) return;
  const said = state?.phase === 'done' || state?.phase === 'stopped' ? state.text : '';
  if (said === '' || !state) return write(path, { messages, active: null });
  const { done } = state;
  const answer = message(messages, {
    id: done?.messageID || `${run}.answer`,
    role: 'assistant',
    content: said,
    run_id: run,
    content_struct: { segments: done?.segments ?? [], citations: done?.citations ?? [] },
    meta: { ...(done?.model ? { model: done.model } : {}), ...(state.phase === 'stopped' ? { cancelled: true } : {}) },
  });
  write(path, { messages: [...messages, answer], active: null });
}

function message(before: Message[], part: Pick<Message, 'id' | 'role' | 'content' | 'run_id'> & Partial<Message>): Message {
  return {
    sender: part.role,
    seq: (before.at(-1)?.seq ?? 0) + 1,
    created_at: new Date().toISOString(),
    content_struct: null,
    token_count_in: 0,
    token_count_out: 0,
    meta: {},
    versions: null,
    feedback: null,
    ...part,
  };
}

export interface Said {
  role: 'user' | 'assistant';
  content: string;
}

/** What goes along with the next question: whole turns, as many of the latest as the server takes. */
export function historyOf(messages: Message[]): Said[] {
  const turns: Said[][] = [];
  for (const [n, one] of messages.entries()) {
    const answer = messages[n + 1];
    if (one.role === 'user' && answer?.role === 'assistant') turns.push([{ role: 'user', content: one.content }, { role: 'assistant', content: answer.content }]);
  }
  const bytes = (turn: Said[]) => new TextEncoder().encode(JSON.stringify(turn)).length;
  let room = mostHistory;
  const from = turns.findLastIndex((turn) => (room -= bytes(turn)) < 0);
  return turns.slice(from + 1).flat();
}
