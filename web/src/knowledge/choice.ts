// What a conversation uses: which collection of documents ('' means all of
// them), which workflow and which model backend ('' lets the server choose).

import { ask } from '../api/ask.ts';
import { keys, queryClient } from '../api/queries.ts';
import type { Context, Conversation } from '../api/types.ts';
import { inEveryLanguage, words } from '../i18n/index.ts';
import { newDraft } from '../lib/drafts.ts';
import { readItem, writeItem } from '../lib/storage.ts';
import { createStore } from '../lib/store.ts';
import { typedOf } from './workflows.ts';

/** What was chosen on this page, by conversation (`_new` for one to come). */
export const chosenContext = createStore<Record<string, string>>({});

/** The model backend that was chosen on this page, by conversation; the server keeps it with the conversation. */
export const chosenBackend = createStore<Record<string, string>>({});

const workflowsKey = 'liminal.workflows';
const mostRemembered = 200; // conversations

/**
 * The workflow that was chosen on this page, by conversation; the server keeps
 * it with the conversation. This browser remembers it only until the server
 * has it: where that failed, and what a page of before remembered.
 */
export const chosenWorkflow = createStore<Record<string, string>>(remembered());

function remembered(): Record<string, string> {
  try {
    const value: unknown = JSON.parse(readItem('local', workflowsKey) ?? '{}');
    const pairs = value && typeof value === 'object' ? Object.entries(value) : [];
    return Object.fromEntries(pairs.filter((pair): pair is [string, string] => typeof pair[1] === 'string'));
  } catch {
    return {};
  }
}

/** Keeps one choice beside those that are kept, which other tabs may have made. */
function remember(draftKey: string, id: string): void {
  if (draftKey === newDraft) return;
  const { [draftKey]: _, ...others } = remembered();
  const pairs = Object.entries(id === '' ? others : { ...others, [draftKey]: id }); // the latest last: the oldest are forgotten first
  writeItem('local', workflowsKey, pairs.length > 0 ? JSON.stringify(Object.fromEntries(pairs.slice(-mostRemembered))) : null);
}

/** Chooses a workflow on this page. For a conversation that is there, keepWorkflow says it to the server. */
export function chooseWorkflow(draftKey: string, id: string): void {
  chosenWorkflow.set({ ...chosenWorkflow.get(), [draftKey]: id });
  remember(draftKey, id);
}

/** Has the server keep the workflow of a conversation, by id or name; it is remembered here until then. */
export async function keepWorkflow(conversationID: string, workflowID: string): Promise<void> {
  await ask('changeConversation', { path: { id: conversationID }, body: { workflow_id: workflowID } });
  remember(conversationID, '');
  void queryClient.invalidateQueries({ queryKey: keys.conversations });
}

/** Has the server keep the workflow that this browser remembers of a conversation, if there is one. */
export async function handOver(conversationID: string): Promise<void> {
  const choice = remembered()[conversationID];
  if (choice !== undefined) await keepWorkflow(conversationID, (typedOf(choice) ?? choice).trim());
}

/** What was chosen for a conversation to come holds once it is there. */
export function carryOver(from: string, to: string): void {
  for (const store of [chosenContext, chosenWorkflow, chosenBackend]) {
    const { [from]: value, ...others } = store.get();
    if (value !== undefined) store.set({ ...others, [to]: value });
  }
  const workflow = chosenWorkflow.get()[to];
  if (workflow !== undefined) remember(to, workflow);
}

export function forgetChoices(): void {
  chosenContext.set({});
  chosenWorkflow.set({});
  chosenBackend.set({});
  writeItem('local', workflowsKey, null);
}

/** A context that is gone is chosen nowhere: a message that named it would be refused. */
export function forgetContext(id: string): void {
  chosenContext.set(Object.fromEntries(Object.entries(chosenContext.get()).filter(([, chosen]) => chosen !== id)));
}

export function contextOf(chosen: Record<string, string>, draftKey: string, conversation: Conversation | null): string {
  return chosen[draftKey] ?? conversation?.active_context_id ?? '';
}

export async function choose(draftKey: string, conversation: Conversation | null, contextID: string): Promise<void> {
  chosenContext.set({ ...chosenContext.get(), [draftKey]: contextID });
  if (!conversation) return;
  await ask('changeConversation', { path: { id: conversation.id }, body: { active_context_id: contextID } });
  void queryClient.invalidateQueries({ queryKey: keys.conversations });
}

export function backendOf(chosen: Record<string, string>, draftKey: string, conversation: Conversation | null): string {
  return chosen[draftKey] ?? conversation?.backend ?? '';
}

export async function chooseBackend(draftKey: string, conversation: Conversation | null, name: string): Promise<void> {
  chosenBackend.set({ ...chosenBackend.get(), [draftKey]: name });
  if (!conversation) return;
  await ask('changeConversation', { path: { id: conversation.id }, body: { backend: name } });
  void queryClient.invalidateQueries({ queryKey: keys.conversations });
}

export async function createContext(name: string): Promise<Context> {
  const made = await ask('createContext', { body: { name } });
  await queryClient.invalidateQueries({ queryKey: keys.contexts });
  return made;
}

let making: Promise<string> | null = null;

/** The collection files go to when none is chosen; made on demand, once. */
export function defaultContext(): Promise<string> {
  making ??= findOrMake().finally(() => {
    making = null;
  });
  return making;
}

async function findOrMake(): Promise<string> {
  const { data } = await ask('listContexts', { query: { owner: 'me', limit: 100 } });
  const names = inEveryLanguage((one) => one.myDocuments);
  const found = data.find((one) => names.includes(one.name));
  return found ? found.id : (await createContext(words().myDocuments)).id;
}
