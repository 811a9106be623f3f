import { Link, useLocation } from 'wouter';
import { makeContext, useContextPages } from '../api/contexts.ts';
import type { Context } from '../api/types.ts';
import { language, useWords } from '../i18n/index.ts';
import { stamp } from '../lib/format.ts';
import { useStore } from '../lib/store.ts';
import { Badge } from '../ui/Badge.tsx';
import { Make, Paged } from './parts.tsx';

/** The contexts a person may use, and a way to make one. */
export function ContextList({ picked }: { picked: string | null }) {
  const words = useWords();
  const [, go] = useLocation();
  const pages = useContextPages();
  return (
    <>
      <Make
        title={words.contextNew}
        act={words.contextCreate}
        open={pages.all && pages.all.length === 0}
        onMake={async (form) => go(`/contexts/${(await makeContext(String(form.get('name')).trim(), String(form.get('description')).trim())).id}`)}
      >
        <label className="field">
          <span>{words.contextName}</span>
          <input name="name" required maxLength={200} pattern=".*\S.*" />
        </label>
        <label className="field">
          <span>{words.contextDescription}</span>
          <textarea name="description" maxLength={2000} rows={2} />
        </label>
      </Make>
      <Paged pages={pages} nothing={words.contextNone}>
        {(all) => (
          <ul className="cards">
            {all.map((one) => (
              <Card key={one.id} context={one} picked={one.id === picked} />
            ))}
          </ul>
        )}
      </Paged>
    </>
  );
}

function Card({ context, picked }: { context: Context; picked: boolean }) {
  const words = useWords();
  const locale = useStore(language);
  return (
    <li className="context-card panel">
      <Link href={`/contexts/${context.id}`} aria-current={picked ? 'true' : undefined}>
        <span className="name">{context.name}</span>
        {context.visibility !== 'private' && <Badge kind={context.visibility} />}
        {context.description && <span className="description">{context.description}</span>}
        <small className="facts-line">
          <span className="monospace">{context.id.slice(0, 8)}…</span>
          <span>{stamp(context.created_at, new Date(), locale)}</span>
          <span>{words.documentsCount(context.documents)}</span>
          <span>{words.passages(context.chunks)}</span>
        </small>
      </Link>
    </li>
  );
}
