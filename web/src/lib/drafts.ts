// Words not yet sent survive a reload (UI-15): localStorage `liminal.drafts`,
// one {text, doc, savedAt} a conversation and `_new` for one that does not exist
// yet. `doc` is the editor's document, and only there when something is
// mentioned: what an older client wrote, and what it reads, is the text alone.

import { readItem, writeItem } from './storage.ts';

export interface Draft {
  text: string;
  doc?: unknown;
  savedAt: string;
}

const key = 'liminal.drafts';
const ownerKey = 'liminal.drafts.owner';
export const newDraft = '_new';

let mine: string | null = null; // whose page this is; null: nobody has said

/** Whether somebody else has taken over what is kept, on another page of this browser. */
function takenOver(): boolean {
  const owner = readItem('local', ownerKey);
  return mine !== null && owner !== null && owner !== mine;
}

function readAll(): Record<string, Draft> {
  if (takenOver()) return {};
  try {
    const value: unknown = JSON.parse(readItem('local', key) ?? '{}');
    return value && typeof value === 'object' ? (value as Record<string, Draft>) : {};
  } catch {
    return {};
  }
}

/** Words are private: another person on this machine does not find them. Whether this is another than was here last. */
export function keepDraftsOf(user: string): boolean {
  if (mine !== user) saveDrafts(); // what is not stored yet goes with the rest, and not into the next one's
  mine = user;
  if (readItem('local', ownerKey) === user) return false;
  writeItem('local', key, null);
  writeItem('local', ownerKey, user);
  return true;
}

export function readDraft(conversation: string): string {
  const text = readAll()[conversation]?.text;
  return typeof text === 'string' ? text : '';
}

/** The editor's document of a draft, as it was stored; undefined where the text is all there is. */
export function readDraftDoc(conversation: string): unknown {
  return readAll()[conversation]?.doc;
}

export function writeDraft(conversation: string, text: string, doc?: unknown): void {
  if (takenOver()) return;
  const all = readAll();
  if (text === '') delete all[conversation];
  else all[conversation] = { text, ...(doc === undefined ? {} : { doc }), savedAt: new Date().toISOString() };
  writeItem('local', key, JSON.stringify(all));
}

/** Forgets some, as with the conversation they belong to. */
export function dropDrafts(conversations: string[]): void {
  saveDrafts(); // an open box does not store them once more
  for (const one of conversations) if (readDraft(one) !== '') writeDraft(one, '');
}

/** What was written here is a draft of another conversation from now on, as when the one to come is there. */
export function moveDraft(from: string, to: string): void {
  saveDrafts();
  const { [from]: draft, ...others } = readAll();
  if (draft && !takenOver()) writeItem('local', key, JSON.stringify({ ...others, [to]: draft }));
}

const savers = new Set<() => void>();

/** Who holds words that are not stored yet, and stores them when asked to. */
export function onSaveDrafts(save: () => void): () => void {
  savers.add(save);
  return () => savers.delete(save);
}

/** Stores what is written in open boxes and not yet saved. */
export function saveDrafts(): void {
  for (const save of savers) save();
}

/** How many conversations have words that were not sent, answers to questions among them. */
export function draftCount(): number {
  saveDrafts();
  return Object.values(readAll()).filter((draft) => typeof draft?.text === 'string' && draft.text !== '').length;
}

/** All drafts as JSON, to be kept in a file. */
export function exportDrafts(): string {
  saveDrafts();
  return JSON.stringify(readAll(), null, 2);
}

/** Forgets them all. A box that is open goes on with what is written in it. */
export function clearDrafts(): void {
  if (takenOver()) return;
  writeItem('local', key, null);
}
