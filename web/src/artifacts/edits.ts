// What somebody writes into an artifact and has not proposed yet survives a
// reload, for them alone: localStorage `liminal.edits`, gone at sign-out.

import { readItem, writeItem } from '../lib/storage.ts';

export interface Edit {
  text: string;
  base: number; // the version it began on; 0: an artifact that is yet to be
  why: string;
  /** Of one that is yet to be. */
  head?: { type: string; name: string; description: string; visibility: string };
}

interface Kept {
  owner: string;
  edits: Record<string, Edit>;
}

const key = 'liminal.edits';

function readAll(owner: string): Record<string, Edit> {
  try {
    const kept = JSON.parse(readItem('local', key) ?? 'null') as Kept | null;
    return kept?.owner === owner && typeof kept.edits === 'object' && kept.edits !== null ? kept.edits : {};
  } catch {
    return {};
  }
}

export function readEdit(owner: string, artifact: string): Edit | null {
  const edit = readAll(owner)[artifact];
  return edit && typeof edit.text === 'string' && typeof edit.base === 'number' ? { ...edit, why: String(edit.why ?? '') } : null;
}

export function writeEdit(owner: string, artifact: string, edit: Edit | null): void {
  const edits = readAll(owner);
  if (edit) edits[artifact] = edit;
  else delete edits[artifact];
  writeItem('local', key, Object.keys(edits).length > 0 ? JSON.stringify({ owner, edits } satisfies Kept) : null);
}

export function forgetEdits(): void {
  writeItem('local', key, null);
}
