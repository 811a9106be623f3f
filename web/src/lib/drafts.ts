// Words not yet sent survive a reload (UI-15): localStorage `liminal.drafts`,
// one {text, savedAt} a conversation and `_new` for one that does not exist yet.

import { readItem, writeItem } from './storage.ts';

export interface Draft {
  text: string;
  savedAt: string;
}

const key = 'liminal.drafts';
const ownerKey = 'liminal.drafts.owner';
export const newDraft = '_new';

function readAll(): Record<string, Draft> {
  try {
    const value: unknown = JSON.parse(readItem('local', key) ?? '{}');
    return value && typeof value === 'object' ? (value as Record<string, Draft>) : {};
  } catch {
    return {};
  }
}

/** Words are private: another person on this machine does not find them. */
export function keepDraftsOf(user: string): void {
  if (readItem('local', ownerKey) === user) return;
  writeItem('local', key, null);
  writeItem('local', ownerKey, user);
}

export function readDraft(conversation: string): string {
  const text = readAll()[conversation]?.text;
  return typeof text === 'string' ? text : '';
}

export function writeDraft(conversation: string, text: string): void {
  const all = readAll();
  if (text === '') delete all[conversation];
  else all[conversation] = { text, savedAt: new Date().toISOString() };
  writeItem('local', key, JSON.stringify(all));
}
