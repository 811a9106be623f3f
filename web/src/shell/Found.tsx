import { useEffect, useState } from 'react';
import { Link } from 'wouter';
import { searchable, useFoundMessages } from '../api/conversations.ts';
import { sentence } from '../i18n/errors.ts';
import { language, useWords } from '../i18n/index.ts';
import { stamp } from '../lib/format.ts';
import { useStore } from '../lib/store.ts';

const pause = 250; // ms without a key until what was typed is searched for

/** A value once it has stayed the same for a while. */
function useSettled(value: string): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), pause);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

/** The messages in which what is typed was said. */
export function Found({ text }: { text: string }) {
  const words = useWords();
  const locale = useStore(language);
  const settled = useSettled(text);
  const query = useFoundMessages(settled);
  if (!searchable(text)) return null;
  const found = query.data?.pages.flatMap((page) => page.data);
  return (
    <section className="found" aria-label={words.foundMessages}>
      <h2>{words.foundMessages}</h2>
      <ul>
        {found?.map((one) => (
          <li key={one.message_id}>
            <Link href={`/c/${one.conversation_id}`}>
              <span className="title">{one.title || words.untitled}</span>
              <time dateTime={one.created_at}>{stamp(one.created_at, new Date(), locale)}</time>
              <span className="excerpt">
                {one.excerpt.map((piece, i) => (piece.hit ? <mark key={i}>{piece.text}</mark> : <span key={i}>{piece.text}</span>))}
              </span>
            </Link>
          </li>
        ))}
      </ul>
      {query.isError && (
        <p className="hint" role="alert">
          {sentence(query.error)}
        </p>
      )}
      {found?.length === 0 && settled === text && <p className="hint">{words.noMessageMatches}</p>}
      {query.hasNextPage && (
        <button type="button" className="quiet" onClick={() => void query.fetchNextPage()}>
          {words.showMore}
        </button>
      )}
    </section>
  );
}
