// What the list of conversations offers beside reading it: finding what was
// said, and keeping a conversation as a file.

import { useInfiniteQuery } from '@tanstack/react-query';
import { download } from '../lib/download.ts';
import { address, ask } from './ask.ts';
import { authorized } from './call.ts';

/** A search needs two characters, and a letter or a number among them. */
export function searchable(text: string): boolean {
  return text.trim().length >= 2 && /[\p{L}\p{N}]/u.test(text);
}

/** The messages whose words begin with those of a text, latest first. */
export function useFoundMessages(text: string) {
  const q = text.trim();
  return useInfiniteQuery({
    queryKey: ['conversations', 'found', q],
    queryFn: ({ pageParam, signal }) => ask('searchMessages', { query: { q, cursor: pageParam, limit: 20 }, signal }),
    initialPageParam: '',
    getNextPageParam: (last) => last.next_cursor || undefined,
    enabled: searchable(q),
  });
}

export type ExportFormat = 'markdown' | 'json';

/** Gives the browser a conversation to keep as a file, under the name the server chose. */
export async function exportConversation(id: string, format: ExportFormat): Promise<void> {
  const response = await authorized(address('/v1/conversations/{id}/export', { id }, { format }), { method: 'GET', headers: {} });
  const named = /filename\*=UTF-8''([^;]+)/.exec(response.headers.get('Content-Disposition') ?? '')?.[1];
  const ending = format === 'json' ? 'json' : 'md';
  const type = response.headers.get('Content-Type') ?? 'text/plain';
  download(named ? decodeURIComponent(named) : `${id}.${ending}`, type, await response.text());
}
