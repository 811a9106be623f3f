// What a person thinks of answers, as this page knows it: what the server keeps
// and, for a moment, what is on its way there.

import { useCallback, useSyncExternalStore } from 'react';
import { ask } from '../api/ask.ts';
import { Failure } from '../api/failure.ts';
import type { Feedback, NewPreference } from '../api/gen.ts';
import { keys, queryClient } from '../api/queries.ts';
import type { Message, Thread } from '../api/types.ts';
import { sentence } from '../i18n/errors.ts';
import { createStore } from '../lib/store.ts';
import { notedIn, type Noted, type Signal } from './read.ts';

/** What is said, besides of which answer. */
export type FeedbackInput = Pick<NewPreference, 'signal' | 'notes' | 'corrected_text'>;

/** The answer something is said of. */
export interface Target {
  conversation: string;
  message: string;
}

export interface Standing {
  feedback: Feedback | null;
  busy: boolean; // it is on its way
  undo: boolean; // it was just kept, and can be undone with one press
  problem: string; // why it could not be kept
}

/** How long the way back is offered beside the thumbs, in ms. The pressed thumb takes back at any time. */
export const undoTime = 5_000;

const standings = createStore<Record<string, Standing>>({});
const settled = { busy: false, undo: false, problem: '' };

/** What stands of an answer; stored is what the server said with it. */
export function useStanding(message: string, stored: Feedback | null): Standing {
  const own = useCallback(() => standings.get()[message], [message]);
  return useSyncExternalStore(standings.subscribe, own) ?? { feedback: stored, ...settled };
}

function put(message: string, standing: Standing | null): void {
  const { [message]: _, ...others } = standings.get();
  standings.set(standing ? { ...others, [message]: standing } : others);
}

/** Forgets what belongs to the person who has left. */
export function forgetFeedback(): void {
  standings.set({});
}

export function isUp(signal: Signal): boolean {
  return signal === 'like' || signal === 'always';
}

/** Says what the person thinks of an answer, at once on the page. Whether it was kept. */
export async function saveFeedback(target: Target, before: Feedback | null, input: FeedbackInput): Promise<boolean> {
  if (standings.get()[target.message]?.busy) return false;
  put(target.message, { feedback: { id: 0, notes: '', corrected_text: '', ...input }, busy: true, undo: false, problem: '' });
  try {
    const body = { conversation_id: target.conversation, message_id: target.message, ...input };
    const { preference } = await ask('createPreference', { body, key: crypto.randomUUID() });
    settle(target, { id: preference.id, signal: preference.signal as Signal, notes: preference.notes, corrected_text: preference.corrected_text ?? '' }, true);
    return true;
  } catch (error) {
    put(target.message, { ...settled, feedback: before, problem: sentence(error) });
    return false;
  }
}

/** Takes back what was said; with all, what was said of the answer before it too. Whether it is gone. */
export async function removeFeedback(target: Target, said: Feedback, all: boolean): Promise<boolean> {
  if (standings.get()[target.message]?.busy) return false;
  put(target.message, { feedback: all ? null : said, busy: true, undo: false, problem: '' });
  try {
    const { feedback } = await ask('deletePreference', { path: { id: said.id }, query: { message_id: target.message, earlier: all || null } });
    settle(target, feedback, false);
  } catch (error) {
    const gone = error instanceof Failure && error.status === 404; // somebody was quicker
    if (!gone) {
      put(target.message, { ...settled, feedback: said, problem: sentence(error) });
      return false;
    }
    patch(target, (thread) => withoutFeedback(thread, target.message, said.id));
    put(target.message, null);
  }
  // A message of the person's may say that it was noted, and it may stand before what is asked for again.
  patch(target, (thread) => withUndone(thread, (noted) => (all ? noted.message === target.message : noted.id === said.id)));
  void queryClient.invalidateQueries({ queryKey: keys.thread(target.conversation) });
  return true;
}

function settle(target: Target, feedback: Feedback | null, undo: boolean): void {
  const standing = { ...settled, feedback, undo };
  put(target.message, standing);
  patch(target, (thread) => withFeedback(thread, target.message, feedback));
  setTimeout(() => {
    if (standings.get()[target.message] !== standing) return;
    // What the server keeps is told with the answer, where the answer came from there.
    const stored = queryClient.getQueryData<Thread>(keys.thread(target.conversation))?.data.some((one) => one.id === target.message);
    put(target.message, stored ? null : { ...standing, undo: false });
  }, undoTime);
}

function patch({ conversation }: Target, change: (thread: Thread | undefined) => Thread | undefined): void {
  queryClient.setQueryData<Thread>(keys.thread(conversation), change);
}

/** A thread in which what stood of one answer is gone, unless something else stands there by now. */
export function withoutFeedback(thread: Thread | undefined, message: string, id: number): Thread | undefined {
  const stands = thread?.data.find((one) => one.id === message)?.feedback;
  return stands?.id === id ? withFeedback(thread, message, null) : thread;
}

/** A thread whose messages say of these that they were taken back. */
export function withUndone(thread: Thread | undefined, gone: (noted: Noted) => boolean): Thread | undefined {
  const undone = (one: Message) => {
    const noted = notedIn(one);
    return noted && !noted.undone && gone(noted) ? { ...one, meta: { ...one.meta, noted: { ...(one.meta['noted'] as object), undone: true } } } : one;
  };
  return thread && { ...thread, data: thread.data.map(undone) };
}

/** A thread in which something else stands of one answer. */
export function withFeedback(thread: Thread | undefined, message: string, feedback: Feedback | null): Thread | undefined {
  const at = thread?.data.findIndex((one) => one.id === message) ?? -1;
  return thread && at >= 0 ? { ...thread, data: thread.data.with(at, { ...thread.data[at]!, feedback }) } : thread;
}
