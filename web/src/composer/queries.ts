// What can be mentioned: the person's documents and sets, as the server has
// them now. Documents are looked for by their titles where they are kept.

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { ask } from '../api/ask.ts';
import type { Mention } from './doc.ts';

const pause = 80; // ms of rest before the server is asked again
const mostDocuments = 6;
const mostSets = 4;

export interface Found {
  mention: Mention;
  about: string; // what tells two of the same name apart; may be empty
}

/** Documents and sets whose names hold the words; null: nobody asks. */
export function useFound(query: string | null): { documents: Found[]; sets: Found[]; searching: boolean } {
  const asked = useRested(query?.trim() ?? null);
  const asking = query !== null;
  const documents = useQuery({
    queryKey: ['mention', 'documents', asked ?? ''],
    queryFn: ({ signal }) => ask('listOwnDocuments', { query: { q: asked ?? '', limit: mostDocuments }, signal }),
    enabled: asking && asked !== null,
    placeholderData: keepPreviousData,
    staleTime: 10_000,
  });
  const sets = useQuery({
    queryKey: ['mention', 'sets'],
    queryFn: ({ signal }) => ask('listDocumentSets', { query: { limit: 100 }, signal }),
    enabled: asking,
    staleTime: 10_000,
  });
  if (!asking) return { documents: [], sets: [], searching: false };
  const words = query.trim().toLowerCase();
  const searching = documents.isFetching || sets.isLoading || asked !== query.trim();
  // While the server looks, what it found before stands only as far as it fits: Enter would take it.
  const fits = (title: string) => !searching || words.split(/\s+/).every((word) => title.toLowerCase().includes(word));
  return {
    documents: (documents.data?.data ?? [])
      .filter((one) => fits(one.title))
      .map((one) => ({ mention: { category: 'document', id: one.id, label: one.title }, about: fileOf(one.path, one.title) })),
    sets: (sets.data?.data ?? [])
      .filter((one) => one.title.toLowerCase().includes(words))
      .slice(0, mostSets)
      .map((one) => ({ mention: { category: 'set', id: one.id, label: one.title }, about: '' })),
    searching,
  };
}

/** The file's name, where the title does not say it. */
function fileOf(path: string, title: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return name.replace(/\.\w+$/, '') === title || name === title ? '' : name;
}

/** A value once it has rested; the first at once, and none at once. */
function useRested(value: string | null): string | null {
  const [rested, setRested] = useState(value);
  useEffect(() => {
    if (value === null) return setRested(null);
    const timer = setTimeout(() => setRested(value), pause);
    return () => clearTimeout(timer);
  }, [value]);
  return rested;
}
