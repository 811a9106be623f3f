// Artifacts: behaviour as data, in versions (001 §13.4), and how one is changed.

import { useQuery } from '@tanstack/react-query';
import { ask } from './ask.ts';
import { changeKeys, type OpenQuestion, type Operation } from './changes.ts';
import type { Artifact, NewArtifact, Tried, Validated } from './gen.ts';
import { queryClient } from './queries.ts';

export type { Artifact, NewArtifact, Rollout, Tried, Validated, Version } from './gen.ts';

export type Visibility = Artifact['visibility'];

export const artifactKeys = {
  all: ['artifacts'] as const,
  list: (type: string, visibility: string) => ['artifacts', 'list', type, visibility] as const,
  one: (id: string) => ['artifacts', 'one', id] as const,
  versions: (id: string) => ['artifacts', 'versions', id] as const,
  form: (kind: string) => ['schemas', kind] as const,
};

const most = 20; // pages of a list; more artifacts than that nobody looks through

/** All artifacts of a type and a visibility (empty: of every one), so that they can be put in any order. */
export function useArtifacts({ type, visibility }: { type: string; visibility: Visibility | '' }) {
  return useQuery({
    queryKey: artifactKeys.list(type, visibility),
    queryFn: async ({ signal }) => {
      const found: Artifact[] = [];
      let cursor = '';
      for (let page = 0; page < most; page++) {
        const next = await ask('listArtifacts', { query: { type, visibility: visibility || null, cursor, limit: 100 }, signal });
        found.push(...next.data);
        cursor = next.next_cursor ?? '';
        if (!cursor) break;
      }
      return found;
    },
    staleTime: 10_000,
  });
}

export function useArtifact(id: string) {
  return useQuery({ queryKey: artifactKeys.one(id), queryFn: ({ signal }) => ask('artifact', { path: { id }, signal }), enabled: id !== '' });
}

/** All versions, the newest first. */
export function useVersions(id: string | undefined) {
  return useQuery({
    queryKey: artifactKeys.versions(id ?? ''),
    queryFn: async ({ signal }) =>
      (await ask('listVersions', { path: { id: id ?? '' }, signal })).data.toSorted((a, b) => b.version - a.version),
    enabled: Boolean(id),
  });
}

/** The JSON Schema of a kind of artifact. */
export function useForm(kind: string) {
  return useQuery({
    queryKey: artifactKeys.form(kind),
    queryFn: ({ signal }) => ask('schema', { path: { kind }, signal }),
    enabled: kind !== '',
    staleTime: Infinity,
  });
}

/** How many decisions an administrator has before them: of patches, and questions that belong to no conversation. */
export function useOpenDecisions(enabled: boolean): number {
  const open = useQuery({
    queryKey: [...changeKeys.all, 'open'],
    queryFn: async ({ signal }) => (await ask('listInterrupts', { signal })).data,
    refetchInterval: 15_000,
    enabled,
  });
  return open.data?.filter(decides).length ?? 0;
}

/** A version that is only watched waits for its time, not for a person. */
function decides(question: OpenQuestion): boolean {
  return question.waits_for === 'person' && question.conversation_id === null && !question.options?.some((option) => option.id === 'keep');
}

/** Everything wrong with a document, without keeping it. */
export function validate(type: string, schema: unknown, signal: AbortSignal): Promise<Validated> {
  return ask('validateArtifact', { body: { type, schema: schema as Record<string, unknown> }, signal }); // what is none, the server says
}

/** What is proposed: operations on an artifact, or one that is yet to be. */
export type Proposed = { artifact_id: string; patch: Operation[]; base_version: number } | { changes: [{ create: NewArtifact }] };

/** What a proposal would do; nothing of it is kept. */
export const tryOut = (proposed: Proposed, justification: string): Promise<Tried> => ask('tryPatch', { body: { ...proposed, justification } });

export const propose = (proposed: Proposed, justification: string) => changed(ask('proposePatch', { body: { ...proposed, justification } }));

/** A new version at once, of what is one's own. */
export const saveVersion = (id: string, patch: Operation[], base: number, note: string) =>
  changed(ask('patchArtifact', { path: { id }, body: { patch, base_version: base, change_note: note } }));

export const create = (artifact: NewArtifact, note: string) =>
  changed(ask('createArtifact', { body: { ...artifact, ...(note ? { change_note: note } : {}) } }));

/** A new version that says what an older one said (ART-07). */
export const restore = (id: string, version: number, reason: string) =>
  changed(ask('restoreVersion', { path: { id, n: version }, body: { reason } }));

async function changed<T>(work: Promise<T>): Promise<T> {
  const result = await work;
  await Promise.all([
    queryClient.invalidateQueries({ queryKey: artifactKeys.all }),
    queryClient.invalidateQueries({ queryKey: changeKeys.all }),
    queryClient.invalidateQueries({ queryKey: ['workflows'] }),
  ]);
  return result;
}
