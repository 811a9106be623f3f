// Contexts, their documents, and sets of documents. Lists come in pages.

import { useEffect, useRef } from 'react';
import { keepPreviousData, useInfiniteQuery, useQuery, type QueryKey } from '@tanstack/react-query';
import { ask } from './ask.ts';
import type { DocumentSet, OneContext, OneDocumentSet } from './gen.ts';
import { keys, queryClient, unfinished } from './queries.ts';
import type { Context, Document, Page } from './types.ts';

export type { DocumentSet, DocumentTitle, OneContext, OneDocumentSet } from './gen.ts';

const few = 25; // on one page
const chunksShown = 5;
const soon = 1_500; // ms, while documents are read in

export const contextKeys = {
  pages: [...keys.contexts, 'pages'] as const,
  one: (id: string) => [...keys.contexts, 'one', id] as const,
  chunks: (id: string) => [...keys.contexts, 'chunks', id] as const,
  documents: (id: string) => [...keys.documents(id), 'pages'] as const,
  versions: (context: string, id: string) => [...keys.documents(context), 'versions', id] as const,
  sets: ['sets'] as const,
  set: (id: string) => ['sets', 'one', id] as const,
  titles: (q: string, limit: number) => ['titles', q, limit] as const,
};

function usePages<T>(queryKey: QueryKey, load: (cursor: string, signal: AbortSignal) => Promise<Page<T>>, live?: (all: T[]) => boolean) {
  const query = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) => load(pageParam, signal),
    initialPageParam: '',
    getNextPageParam: (last: Page<T>) => last.next_cursor || undefined,
    refetchInterval: (now) => (live?.(now.state.data?.pages.flatMap((page) => page.data) ?? []) ? soon : false),
  });
  return { ...query, all: query.data?.pages.flatMap((page) => page.data) };
}

export type Pages<T> = ReturnType<typeof usePages<T>>;

export const useContextPages = () => usePages<Context>(contextKeys.pages, (cursor, signal) => ask('listContexts', { query: { cursor, limit: few }, signal }));

export function useDocumentPages(context: string) {
  const pages = usePages<Document>(
    contextKeys.documents(context),
    (cursor, signal) => ask('listDocuments', { path: { id: context }, query: { cursor, limit: few }, signal }),
    (all) => all.some(unfinished),
  );
  const reading = pages.all?.some(unfinished) ?? false;
  const was = useRef(false);
  useEffect(() => {
    if (was.current && !reading) void contextsChanged(); // its figures and passages are others now
    was.current = reading;
  }, [reading]);
  return pages;
}

export const useSetPages = () => usePages<DocumentSet>([...contextKeys.sets, 'pages'], (cursor, signal) => ask('listDocumentSets', { query: { cursor, limit: few }, signal }));

export function useOneContext(id: string) {
  return useQuery({ queryKey: contextKeys.one(id), queryFn: ({ signal }) => ask('context', { path: { id }, signal }) });
}

/** The passages indexed last (API-15); counted tells when there are others. */
export function useChunks(id: string, counted: number) {
  return useQuery({
    queryKey: [...contextKeys.chunks(id), counted],
    queryFn: async ({ signal }) => (await ask('listChunks', { path: { id }, query: { limit: chunksShown }, signal })).data,
    placeholderData: keepPreviousData,
  });
}

export function useOneSet(id: string) {
  return useQuery({
    queryKey: contextKeys.set(id),
    queryFn: ({ signal }) => ask('documentSet', { path: { id }, signal }),
    refetchInterval: (now) => (now.state.data?.documents.some(unfinished) ? soon : false),
  });
}

/** A person's documents by their titles, of all contexts: the first page, since more words find fewer. */
export function useTitles(q: string, limit: number) {
  return useQuery({
    queryKey: contextKeys.titles(q, limit),
    queryFn: ({ signal }) => ask('listOwnDocuments', { query: { q, limit }, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: (now) => (now.state.data?.data.some(unfinished) ? soon : false),
  });
}

/** After a change of contexts or documents: every list that shows them looks again. */
export async function contextsChanged(context = ''): Promise<void> {
  await Promise.all([
    queryClient.invalidateQueries({ queryKey: keys.contexts }),
    queryClient.invalidateQueries({ queryKey: contextKeys.sets }),
    context && queryClient.invalidateQueries({ queryKey: keys.documents(context) }),
  ]);
}

export async function makeContext(name: string, description: string): Promise<Context> {
  const made = await ask('createContext', { body: { name, ...(description ? { description } : {}) } });
  await contextsChanged();
  return made;
}

export async function changeContext(id: string, change: { name?: string; description?: string }): Promise<OneContext> {
  const changed = await ask('changeContext', { path: { id }, body: change });
  queryClient.setQueryData(contextKeys.one(id), changed);
  await contextsChanged();
  return changed;
}

export async function deleteContext(id: string): Promise<void> {
  await ask('deleteContext', { path: { id } });
  for (const queryKey of [contextKeys.one(id), contextKeys.chunks(id), keys.documents(id)]) {
    queryClient.setQueryDefaults(queryKey, { enabled: false }); // its page is still there for a moment, and what is gone is not asked for again
    queryClient.removeQueries({ queryKey });
  }
  await Promise.all([contextsChanged(), queryClient.invalidateQueries({ queryKey: keys.conversations })]); // those that used it use all again
}

export async function renameDocument(document: Document, title: string): Promise<void> {
  await ask('renameDocument', { path: { id: document.id }, body: { title } });
  await contextsChanged(document.context_id);
}

export async function deleteDocument(document: Document): Promise<void> {
  await ask('deleteDocument', { path: { id: document.id } });
  await contextsChanged(document.context_id);
}

/** The versions a document has replaced, the latest first. */
export function useVersions(document: Document) {
  return useQuery({
    queryKey: contextKeys.versions(document.context_id, document.id),
    queryFn: async ({ signal }) => (await ask('documentVersions', { path: { id: document.id }, signal })).data.filter((one) => one.superseded_at),
  });
}

/** Puts a version that was replaced back in use, as soon as it has been read again. */
export async function restoreVersion(document: Document): Promise<void> {
  await ask('restoreDocument', { path: { id: document.id } });
  await contextsChanged(document.context_id);
}

export async function makeSet(title: string): Promise<OneDocumentSet> {
  const made = await ask('createDocumentSet', { body: { title } });
  await queryClient.invalidateQueries({ queryKey: contextKeys.sets });
  return made;
}

export async function changeSet(id: string, change: { title?: string; document_ids?: string[] }): Promise<void> {
  queryClient.setQueryData(contextKeys.set(id), await ask('changeDocumentSet', { path: { id }, body: change }));
  await queryClient.invalidateQueries({ queryKey: [...contextKeys.sets, 'pages'] });
}

export async function deleteSet(id: string): Promise<void> {
  await ask('deleteDocumentSet', { path: { id } });
  queryClient.removeQueries({ queryKey: contextKeys.set(id) });
  await queryClient.invalidateQueries({ queryKey: contextKeys.sets });
}
