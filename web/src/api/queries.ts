// What the server keeps, cached. Streams stay outside (web.md §0).

import { keepPreviousData, QueryClient, useInfiniteQuery, useQuery, type InfiniteData } from '@tanstack/react-query';
import { ask } from './ask.ts';
import type { Citation, Conversation, Document, Page, User } from './types.ts';

export const queryClient = new QueryClient({
  defaultOptions: { queries: { retry: false, staleTime: 2_000 } }, // asking has its own patience
});

export const keys = {
  ui: ['ui'] as const,
  conversations: ['conversations'] as const,
  programs: ['conversations', 'programs'] as const,
  thread: (id: string) => ['thread', id] as const,
  contexts: ['contexts'] as const,
  documents: (context: string) => ['documents', context] as const,
  run: (id: string) => ['run', id] as const,
};

export function useUIConfig() {
  return useQuery({
    queryKey: keys.ui,
    queryFn: ({ signal }) => ask('uiConfig', { signal }),
    staleTime: 60_000,
  });
}

/** What this person may upload; it differs by plan (API-13). */
export function useFileLimits() {
  return useQuery({ queryKey: ['limits'], queryFn: ({ signal }) => ask('fileLimits', { signal }), staleTime: 60_000 });
}

export function useConversations() {
  return useInfiniteQuery({
    queryKey: keys.conversations,
    queryFn: ({ pageParam, signal }) => ask('listConversations', { query: { cursor: pageParam, limit: 50 }, signal }),
    initialPageParam: '',
    getNextPageParam: (last) => last.next_cursor || undefined,
    refetchInterval: 20_000,
  });
}

/** The conversations that clients of other protocols began; they are not among the others. */
export function useProgramConversations() {
  return useInfiniteQuery({
    queryKey: keys.programs,
    queryFn: ({ pageParam, signal }) => ask('listConversations', { query: { from: 'programs', cursor: pageParam, limit: 50 }, signal }),
    initialPageParam: '',
    getNextPageParam: (last) => last.next_cursor || undefined,
    refetchInterval: 60_000,
  });
}

export type ConversationPages = InfiniteData<Page<Conversation>>;

export function useRun(id: string | null, enabled: boolean) {
  return useQuery({
    queryKey: keys.run(id ?? ''),
    queryFn: async ({ signal }) => (await ask('run', { path: { id: id ?? '' }, signal })).run,
    enabled: enabled && id !== null,
    staleTime: Infinity,
  });
}

export function useContexts() {
  return useQuery({
    queryKey: keys.contexts,
    queryFn: async ({ signal }) => (await ask('listContexts', { query: { limit: 100 }, signal })).data,
  });
}

/** The contexts whose name holds the words; of none, nothing is asked. */
export function useContextsNamed(q: string) {
  return useQuery({
    queryKey: [...keys.contexts, 'named', q],
    queryFn: async ({ signal }) => (await ask('listContexts', { query: { q, limit: 100 }, signal })).data,
    enabled: q.trim() !== '',
    placeholderData: keepPreviousData,
  });
}

/** One context by its id, for its name; one that is gone is no failure to tell of. */
export function useContextName(id: string, enabled: boolean) {
  return useQuery({
    queryKey: [...keys.contexts, 'name', id],
    queryFn: async ({ signal }) => (await ask('context', { path: { id }, signal, once: true })).name ?? '',
    enabled: enabled && id !== '',
    retry: false,
  });
}

export function unfinished(document: Pick<Document, 'status'>): boolean {
  return document.status === 'waiting' || document.status === 'reading';
}

/** What the person's model calls have used, and may use (OBS-09). */
export function useUsage(enabled: boolean) {
  return useQuery({
    queryKey: ['usage'],
    queryFn: ({ signal }) => ask('usage', { signal }),
    enabled,
  });
}

/** What a citation was taken from, with what stands around it: its page, where the document has pages. */
export function usePassage({ document_id: id, start, end, page }: Pick<Citation, 'document_id' | 'start' | 'end' | 'page'>) {
  return useQuery({
    queryKey: ['passage', id, start, end],
    queryFn: ({ signal }) => ask('passage', { path: { id }, query: { start, end, margin: 900, around: page ? 'page' : 'margin' }, signal }),
    staleTime: 60_000,
  });
}

export type { User };
