import { useState } from 'react';
import type { useProgramConversations } from '../api/queries.ts';
import type { Conversation } from '../api/types.ts';
import { sentence } from '../i18n/errors.ts';
import { useWords } from '../i18n/index.ts';
import { ConversationRow } from './ConversationRow.tsx';

interface Props {
  query: ReturnType<typeof useProgramConversations>;
  /** Those to show: all, or what a search finds of them. */
  found: Conversation[];
  searched: boolean;
  active: string | null;
}

/** The conversations that clients of other protocols began: folded, unless a search finds one or one of them is open. */
export function FromPrograms({ query, found, searched, active }: Props) {
  const words = useWords();
  const [folded, setFolded] = useState<boolean>(); // as the person left it
  if (found.length === 0 && !query.isError) return null;
  const open = searched || !(folded ?? !found.some((one) => one.id === active));
  return (
    <section className="programs" aria-label={words.fromPrograms}>
      <h2>
        <button type="button" className="fold" aria-expanded={open} onClick={() => setFolded(open)}>
          {words.fromPrograms}
        </button>
      </h2>
      {open && (
        <ul>
          {found.map((one) => (
            <ConversationRow key={one.id} conversation={one} active={one.id === active} />
          ))}
        </ul>
      )}
      {open && query.isError && (
        <p className="hint" role="alert">
          {sentence(query.error)}
        </p>
      )}
      {open && query.hasNextPage && (
        <button type="button" className="quiet" onClick={() => void query.fetchNextPage()}>
          {words.showMore}
        </button>
      )}
    </section>
  );
}
