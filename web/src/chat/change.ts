// Going back in a conversation: other words for a message, another answer to
// it, an earlier version, a branch. Nothing of it is ever deleted, so nothing
// here asks whether one is sure.

import { createContext } from 'react';
import { ask } from '../api/ask.ts';
import { keys, queryClient } from '../api/queries.ts';
import { renewTo } from '../api/thread.ts';
import type { Message, Thread } from '../api/types.ts';
import { sentence } from '../i18n/errors.ts';
import { dropDrafts } from '../lib/drafts.ts';
import { createStore } from '../lib/store.ts';
import { answerDraft, notice } from './commands.ts';

/** The message whose words are being changed, by conversation. */
export const editing = createStore<Record<string, string>>({});

export function edit(conversation: string, message: string | null): void {
  const { [conversation]: _, ...others } = editing.get();
  editing.set(message === null ? others : { ...others, [conversation]: message });
}

/** Where changed words are kept until they are sent. */
export function editDraft(message: string): string {
  return `edit:${message}`;
}

/** Forgets what was begun in a conversation that is gone, as far as this page has seen it. */
export function dropDraftsOf(conversation: string): void {
  const thread = queryClient.getQueryData<Thread>(keys.thread(conversation));
  dropDrafts([conversation, ...(thread?.data ?? []).map((one) => editDraft(one.id)), ...(thread?.pending_interrupts ?? []).map(answerDraft)]);
}

/** What stands in the way of changing a conversation. */
export type Lock = 'run' | 'question' | null;

/** What the turns of a conversation can do with it. */
export interface Change {
  conversation: string;
  lock: Lock;
  /** Asks again in the place of a message. Whether the server took it. */
  replace(message: Message, text: string): Promise<boolean>;
  /** Goes to another conversation, unless the reader has left this one meanwhile. */
  go(conversation: string): void;
}

export const ChangeContext = createContext<Change | null>(null);

/** Shows another version of a message, with all that came of it. */
export async function showVersion(conversation: string, message: string): Promise<void> {
  notice(conversation, '');
  try {
    const fresh = (await ask('showVersion', { path: { id: conversation }, body: { message_id: message } })) as Thread;
    await queryClient.cancelQueries({ queryKey: keys.thread(conversation) });
    await renewTo(conversation, fresh, message);
  } catch (error) {
    notice(conversation, sentence(error));
    await queryClient.invalidateQueries({ queryKey: keys.thread(conversation) }); // somebody may have been quicker
  }
}

/** Makes a conversation of its own out of this one up to a message; its id, or null when it could not be. */
export async function branchOff(conversation: string, message: string, key: string): Promise<string | null> {
  notice(conversation, '');
  try {
    const made = await ask('branchConversation', { path: { id: conversation }, key, body: { message_id: message } });
    void queryClient.invalidateQueries({ queryKey: keys.conversations });
    return made.conversation.id;
  } catch (error) {
    notice(conversation, sentence(error));
    return null;
  }
}

/** The version beside the one shown; null where there is none. */
export function beside(message: Message, step: -1 | 1): string | null {
  const { ids, at } = message.versions ?? { ids: [], at: 0 };
  return ids[at + step] ?? null;
}
