// What a person does in a conversation: send, stop, answer. The server's word
// is final; what is kept here only bridges the moment until it has spoken.

import { ask } from '../api/ask.ts';
import { Failure } from '../api/failure.ts';
import { keys, queryClient } from '../api/queries.ts';
import { watchPerson } from '../api/session.ts';
import { withSent } from '../api/thread.ts';
import type { Accepted, Interrupt, Message, Thread } from '../api/types.ts';
import { linesOf, linesOfText, type Piece } from '../composer/doc.ts';
import { putAbove } from '../composer/draft.ts';
import { createStore } from '../lib/store.ts';
import { saveDrafts, writeDraft } from '../lib/drafts.ts';
import { sentence } from '../i18n/errors.ts';
import { words } from '../i18n/index.ts';
import { dismissReady } from '../knowledge/uploads.ts';
import { followRun, onSettled } from './follower.ts';
import { forgetSubmitted, submit, uncertain } from './submit.ts';

/** Words on their way to the server, by conversation. */
export interface Outgoing {
  text: string;
  doc?: unknown; // the editor's document, where they mention something
  replaces?: string; // the message whose place they take
}
export const outbox = createStore<Record<string, Outgoing>>({});

/** A sentence about something that did not work, by conversation. */
export const notices = createStore<Record<string, string>>({});

/** Answers given on this page: the value's words, null when skipped. */
export const answers = createStore<Record<string, string | null>>({});

/** Where the words of an answer are kept until it is sent. */
export function answerDraft(interrupt: Interrupt): string {
  return `answer:${interrupt.interrupt_id}`;
}

/** Grows when a draft was written by the program, so that the composer reads it again. */
export const draftsTouched = createStore(0);

export interface Sending {
  conversation: string | null; // null: a new one
  draftKey: string;
  text: string;
  contextID: string;
  workflowID: string;
  /** The model backend that was chosen on this page; the server knows what was chosen before. */
  backend?: string | undefined;
  /** The person's message this one takes the place of: an edit, or the same words once more. */
  replaces?: string;
  /** What else goes with it: members of the request body. */
  fields?: Record<string, unknown>;
}

/** Sends a message. Returns the conversation's id, or null when the words were given back. */
export async function send(turn: Sending): Promise<string | null> {
  const another = watchPerson();
  notice(turn.draftKey, '');
  dismissReady();
  outbox.set({ ...outbox.get(), [turn.draftKey]: { text: turn.text, doc: turn.fields?.['tiptap_json'], ...(turn.replaces ? { replaces: turn.replaces } : {}) } });
  try {
    const { accepted, request } = await submit({
      ...(turn.conversation ? { conversation_id: turn.conversation } : {}),
      ...(turn.contextID ? { context_id: turn.contextID } : {}),
      ...(turn.workflowID || turn.conversation ? { workflow_id: turn.workflowID } : {}), // empty: whatever the server keeps
      ...(turn.backend !== undefined ? { backend: turn.backend } : {}),
      ...(turn.replaces ? { replaces: turn.replaces } : {}),
      ...turn.fields,
      message: turn.text,
    });
    if (another()) return null; // they find it when they come back
    await accept(accepted, turn, request);
    return accepted.conversation_id;
  } catch (error) {
    if (another()) return null; // the box is another person's by now
    // What was to replace others stays where it was written, and so do they.
    if (!turn.replaces) giveBack(turn.draftKey, turn.text, turn.fields?.['tiptap_json']);
    notice(turn.draftKey, `${failed(turn, error)} ${sentence(error)}`);
    if (uncertain(error)) lookAgain(turn.conversation);
    return null;
  } finally {
    const { [turn.draftKey]: _, ...others } = outbox.get();
    outbox.set(others);
  }
}

/** What became of words that were not accepted, as far as it is known. */
function failed({ replaces }: Sending, error: unknown): string {
  const { changeFailed, changeUncertain, sendFailed, sendUncertain } = words();
  if (uncertain(error)) return replaces ? changeUncertain : sendUncertain;
  return replaces ? changeFailed : sendFailed;
}

/** Asks the server how things stand, where words may have arrived after all. */
function lookAgain(conversation: string | null): void {
  if (conversation) void queryClient.invalidateQueries({ queryKey: keys.thread(conversation) });
  void queryClient.invalidateQueries({ queryKey: keys.conversations });
}

async function accept(accepted: Accepted, { conversation: before, text, replaces, fields }: Sending, request: string): Promise<void> {
  const { conversation_id: conversation, run_id: run } = accepted;
  const key = keys.thread(conversation);
  await queryClient.cancelQueries({ queryKey: key }); // what was asked before does not know of it yet
  const whole = queryClient.getQueryData(key) !== undefined;
  queryClient.setQueryData<Thread>(key, (thread) => {
    const message: Message = {
      id: accepted.user_message_id,
      role: 'user',
      sender: 'user',
      content: text,
      seq: 0,
      created_at: new Date().toISOString(),
      run_id: run,
      content_struct: null,
      token_count_in: 0,
      token_count_out: 0,
      meta: fields?.['tiptap_json'] ? { tiptap_json: fields['tiptap_json'] } : {},
      versions: null,
      feedback: null,
    };
    return {
      thread_id: conversation,
      ...withSent(thread, message, replaces),
      next_cursor: null,
      pending_interrupt: null,
      pending_interrupts: [],
      active_run: { id: run, status: 'running', request_id: request, last_seq: 0 },
    };
  });
  followRun(run, conversation);
  if (before && !whole) void queryClient.invalidateQueries({ queryKey: key }); // there are messages before it
  void queryClient.invalidateQueries({ queryKey: keys.conversations });
}

/** Puts words back into the box, with what they mention, above anything typed there meanwhile. */
export function giveBack(draftKey: string, text: string, doc?: unknown): void {
  giveBackLines(draftKey, linesOf(doc) ?? linesOfText(text));
}

export function giveBackLines(draftKey: string, lines: Piece[][]): void {
  saveDrafts();
  putAbove(draftKey, lines);
  draftsTouched.set(draftsTouched.get() + 1);
}

export function notice(draftKey: string, text: string): void {
  const { [draftKey]: _, ...others } = notices.get();
  notices.set(text ? { ...others, [draftKey]: text } : others);
}

/** Asks the server to stop a run; the log says when it has (STREAM-08). */
export async function stop(runID: string, conversation: string): Promise<void> {
  try {
    await ask('cancelChat', { body: { run_id: runID } });
  } catch (error) {
    // It ended by itself in the same moment: the log has the rest.
    if (!(error instanceof Failure && (error.status === 404 || error.status === 409))) notice(conversation, sentence(error));
  }
}

/** What became of an answer. While the question is not settled, one is still wanted; the details say which fields were wrong. */
export interface Answered {
  settled: boolean;
  details?: unknown;
}

/**
 * Answers a question; null skips it. A settled one brings the conversation up
 * to date (INT-31).
 */
export async function answer(interrupt: Interrupt, value: unknown, shown: string | null): Promise<Answered> {
  const another = watchPerson();
  const conversation = interrupt.conversation_id;
  notice(conversation, '');
  try {
    await ask('resume', {
      body: {
        interrupt_id: interrupt.interrupt_id,
        conversation_id: conversation,
        resume_value: value === null ? { type: 'cancel', value: null } : { type: interrupt.interrupt_type, value },
      },
    });
    answers.set({ ...answers.get(), [interrupt.interrupt_id]: shown });
    writeDraft(answerDraft(interrupt), '');
    followRun(interrupt.run_id, conversation);
    return { settled: true };
  } catch (error) {
    if (another()) return { settled: true }; // the box is another person's by now
    const open = await isOpen(interrupt);
    if (another()) return { settled: true };
    const refused = error instanceof Failure && (error.status === 409 || error.status === 400 || error.status === 404);
    if (open || refused) notice(conversation, open ? sentence(error) : words().stale);
    if (open) return { settled: false, details: error instanceof Failure ? error.details : undefined };
    settleElsewhere(interrupt);
    followRun(interrupt.run_id, conversation);
    return { settled: true };
  } finally {
    void queryClient.invalidateQueries({ queryKey: keys.conversations });
  }
}

/** Whether a question waits on, by what the server says now; while it says nothing, it does. */
async function isOpen({ conversation_id: conversation, interrupt_id: id }: Interrupt): Promise<boolean> {
  const key = keys.thread(conversation);
  await queryClient.invalidateQueries({ queryKey: key });
  const known = queryClient.getQueryState<Thread>(key);
  if (!known?.data || known.isInvalidated) return true;
  return (known.data.pending_interrupts ?? []).some((one) => one.interrupt_id === id);
}

/** Questions that somebody settled, but not on this page. */
export const settledElsewhere = createStore<ReadonlySet<string>>(new Set());

function settleElsewhere(interrupt: Interrupt): void {
  settledElsewhere.set(new Set([...settledElsewhere.get(), interrupt.interrupt_id]));
  writeDraft(answerDraft(interrupt), '');
}

/** Forgets what belongs to the person who has left. */
export function forgetCommands(): void {
  outbox.set({});
  notices.set({});
  answers.set({});
  settledElsewhere.set(new Set());
  forgetSubmitted();
}

onSettled((conversation, runID) => {
  void queryClient.invalidateQueries({ queryKey: keys.thread(conversation) });
  void queryClient.invalidateQueries({ queryKey: keys.conversations });
  void queryClient.invalidateQueries({ queryKey: keys.run(runID) });
});
