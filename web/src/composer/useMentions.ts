// The list behind an @: what it offers for the words written so far, which row
// is chosen, and the keys it takes from the box.

import { useEffect, useState } from 'react';
import { useUIConfig } from '../api/queries.ts';
import { useWords } from '../i18n/index.ts';
import type { Dictionary } from '../i18n/en.ts';
import type { Category, Mention } from './doc.ts';
import { useFound, type Found } from './queries.ts';
import type { Query } from './writer.ts';

export const actionIDs = ['summarize', 'inquire', 'compare', 'audit'] as const;
export type ActionID = (typeof actionIDs)[number];

/** Names that are the same in every language: they are what is written (UI-32). */
const actionNames: Record<ActionID, string> = { summarize: 'Summarize', inquire: 'Inquire', compare: 'Compare', audit: 'Audit' };
const webSearch: Mention = { category: 'web', id: 'web', label: 'WebSearch' };

export interface Row extends Found {
  key: string;
}

export interface Group {
  category: Category;
  rows: Row[];
}

export interface Mentions {
  open: boolean;
  searching: boolean;
  groups: Group[];
  active: Row | null;
  point(row: Row): void;
  choose(row: Row): void;
  /** Takes a key; true when it was for the list. */
  key(event: KeyboardEvent): boolean;
}

/** What is offered behind an @. `onlyDocuments`: where an answer is written, there is nothing to do but name. */
export function useMentions(query: Query | null, onlyDocuments: boolean, take: (query: Query, mention: Mention) => void): Mentions {
  const words = useWords();
  const [left, setLeft] = useState(-1); // the @ whose list was closed
  if (query === null && left !== -1) setLeft(-1);
  const asked = query && query.from !== left ? query : null;
  const { documents, sets, searching } = useFound(asked?.text ?? null);
  const search = useUIConfig().data?.web_search ?? false;
  const groups = offered(asked, documents, onlyDocuments ? null : { sets, search }, words);
  const rows = groups.flatMap((group) => group.rows);
  // A title may hold blanks; words that are none of a title end the search.
  const open = asked !== null && (rows.length > 0 || (!/\s/.test(asked.text) && asked.text !== '') || (asked.text === '' && searching));

  const [pointed, setPointed] = useState('');
  useEffect(() => setPointed(''), [asked?.from, asked?.text]);
  const at = Math.max(0, rows.findIndex((row) => row.key === pointed));
  const active = open ? (rows[at] ?? null) : null;

  function choose(row: Row): void {
    if (asked) take(asked, row.mention);
  }

  function key(event: KeyboardEvent): boolean {
    if (!open || event.isComposing || event.keyCode === 229 || event.ctrlKey || event.metaKey || event.altKey) return false;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      if (rows.length > 0) setPointed(rows[(at + step + rows.length) % rows.length]!.key);
      return true;
    }
    if (event.key === 'Escape') {
      setLeft(asked.from);
      event.stopPropagation(); // it closes the list, and nothing else
      return true;
    }
    if ((event.key !== 'Enter' && event.key !== 'Tab') || event.shiftKey) return false;
    if (active) choose(active);
    return active !== null || (searching && event.key === 'Enter'); // what is still looked for is not sent by half
  }

  return { open, searching, groups, active, point: (row) => setPointed(row.key), choose, key };
}

function offered(query: Query | null, documents: Found[], more: { sets: Found[]; search: boolean } | null, words: Dictionary): Group[] {
  if (!query) return [];
  const groups: Group[] = [groupOf('document', documents)];
  if (more) {
    const actions = actionIDs.map((id) => ({ mention: { category: 'action' as const, id, label: actionNames[id] }, about: words.mentionAction(id) }));
    const fits = ({ mention, about }: Found) => `${mention.label} ${about}`.toLowerCase().split(/\s+/).some((word) => word.startsWith(query.text.trim().toLowerCase()));
    const web = more.search ? [{ mention: webSearch, about: words.mentionWeb }] : [];
    groups.push(groupOf('set', more.sets), groupOf('action', actions.filter(fits)), groupOf('web', web.filter(fits)));
  }
  return groups.filter(({ rows }) => rows.length > 0);
}

function groupOf(category: Category, rows: Found[]): Group {
  return { category, rows: rows.map((row) => ({ ...row, key: `${category}-${row.mention.id}` })) };
}

/** The id of a row's element; the box names it as the one that is chosen. */
export function rowID(row: Row): string {
  return `mention-${row.key}`;
}

