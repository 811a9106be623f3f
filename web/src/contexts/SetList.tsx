import { Link, useLocation } from 'wouter';
import { makeSet, useSetPages } from '../api/contexts.ts';
import { language, useWords } from '../i18n/index.ts';
import { stamp } from '../lib/format.ts';
import { useStore } from '../lib/store.ts';
import { Make, Paged } from './parts.tsx';

/** A person's sets of documents, and a way to make one. */
export function SetList({ picked }: { picked: string | null }) {
  const words = useWords();
  const locale = useStore(language);
  const [, go] = useLocation();
  const pages = useSetPages();
  return (
    <>
      <Make
        title={words.setNew}
        act={words.setCreate}
        open={pages.all && pages.all.length === 0}
        onMake={async (form) => go(`/contexts/sets/${(await makeSet(String(form.get('title')).trim())).id}`)}
      >
        <label className="field">
          <span>{words.setTitle}</span>
          <input name="title" required maxLength={200} pattern=".*\S.*" />
        </label>
      </Make>
      <Paged pages={pages} nothing={words.setNone}>
        {(all) => (
          <ul className="cards">
            {all.map((one) => (
              <li key={one.id} className="context-card panel">
                <Link href={`/contexts/sets/${one.id}`} aria-current={one.id === picked ? 'true' : undefined}>
                  <span className="name">{one.title}</span>
                  <small className="facts-line">
                    <span>{stamp(one.updated_at, new Date(), locale)}</span>
                    <span>{words.documentsCount(one.document_ids.length)}</span>
                  </small>
                </Link>
              </li>
            ))}
          </ul>
        )}
      </Paged>
    </>
  );
}
