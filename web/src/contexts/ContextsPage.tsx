import { Link, useRoute } from 'wouter';
import { useWords } from '../i18n/index.ts';
import '../styles/pages.ts';
import { ContextDetail } from './ContextDetail.tsx';
import { ContextList } from './ContextList.tsx';
import { SetDetail } from './SetDetail.tsx';
import { SetList } from './SetList.tsx';

/**
 * Contexts: named sets of documents, and what is in them (UI-10); and the sets
 * a message can mention. The list stands beside what was picked; on a phone
 * one of the two is there.
 */
export default function ContextsPage() {
  const words = useWords();
  const [isSets] = useRoute('/contexts/sets/*?');
  const [, set] = useRoute('/contexts/sets/:id');
  const [isOne, one] = useRoute('/contexts/:id');
  const id = isSets ? (set?.id ?? null) : isOne ? one.id : null;
  return (
    <div className="pages-body contexts" data-picked={id !== null || undefined}>
      <header className="page-head">
        <div>
          <h1>{words.contexts}</h1>
          <p className="lead">{isSets ? words.setsLead : words.contextsLead}</p>
        </div>
        <nav className="pills pill-row" aria-label={words.contextsKinds}>
          <Link href="/contexts" aria-current={isSets ? undefined : 'page'}>
            {words.contextsTab}
          </Link>
          <Link href="/contexts/sets" aria-current={isSets ? 'page' : undefined}>
            {words.setsTab}
          </Link>
        </nav>
      </header>
      <div className="beside">
        <div className="left">{isSets ? <SetList picked={id} /> : <ContextList picked={id} />}</div>
        <div className="right">
          {id === null ? (
            <p className="nothing">{isSets ? words.setPick : words.contextPick}</p>
          ) : (
            <>
              <Link href={isSets ? '/contexts/sets' : '/contexts'} className="back">
                {isSets ? words.setBack : words.contextBack}
              </Link>
              {isSets ? <SetDetail key={id} id={id} /> : <ContextDetail key={id} id={id} />}
            </>
          )}
        </div>
      </div>
    </div>
  );
}
