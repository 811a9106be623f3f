// What is told of proposed notes.

import type { Artifact } from '../api/artifacts.ts';
import type { Note } from '../api/palace.ts';

/** What keeping a note changes: the tokens of blocks that would be LONG then, and in which tiers those are now. */
export function priceOf(note: Pick<Note, 'sources'>): { tokens: number; now: [tier: string, blocks: number][] } {
  const now = new Map<string, number>();
  let tokens = 0;
  for (const block of note.sources) {
    if (block.retention_tier === 'LONG') continue;
    tokens += block.tokens;
    now.set(block.retention_tier, (now.get(block.retention_tier) ?? 0) + 1);
  }
  return { tokens, now: [...now] };
}

/** A list as it is now, with what its person decided on left where it stood: who decides on one goes on with the next. */
export function withDecided(list: readonly Note[], decided: ReadonlyMap<string, Note>): Note[] {
  const all = new Map(list.map((one) => [one.id, one]));
  for (const [id, one] of decided) all.set(id, one);
  return [...all.values()].toSorted((a, b) => (a.id < b.id ? 1 : -1)); // ids are ordered by time
}

export interface Proposing {
  id: string; // of the policy
  propose: boolean;
  most: number;
}

/** What the policy that holds for a person says of notes: their own "default" goes before everybody's. */
export function proposing(policies: readonly Artifact[], me: string): Proposing | null {
  const named = policies.filter((one) => one.name === 'default' && one.status !== 'draft');
  const policy = named.find((one) => one.owner_id === me) ?? named.find((one) => one.owner_id === null);
  if (!policy) return null;
  const notes = (policy.schema['notes'] ?? {}) as { propose?: boolean; most?: number };
  return { id: policy.id, propose: notes.propose === true, most: notes.most ?? mostNotes };
}

const mostNotes = 5; // that a policy which does not say asks for
