import '../styles/pages.ts';
import '../operate/styles.ts';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { ask } from '../api/ask.ts';
import type { Share } from '../api/gen.ts';
import { sentence } from '../i18n/errors.ts';
import { language } from '../i18n/index.ts';
import { useTold } from '../i18n/said.ts';
import { stamp } from '../lib/format.ts';
import { useStore } from '../lib/store.ts';
import { useSurfaceWords } from '../surfaces/words.ts';
import { useProgramsList, useWaitingList, type Waiting } from './waiting.ts';

/** What waits for the person, and what others share with them. */
export default function InboxPage() {
  const words = useSurfaceWords();
  const waits = useWaitingList();
  return (
    <div className="pages-body inbox">
      <header className="page-head">
        <div>
          <h1>{words.inbox}</h1>
          <p className="lead">{words.inboxLead}</p>
        </div>
      </header>
      {waits.length === 0 && <p className="nothing">{words.empty}</p>}
      {waits.length > 0 && (
        <ul className="rows" aria-label={words.inbox}>
          {waits.map((one) => (
            <Row key={one.key} one={one} />
          ))}
        </ul>
      )}
      <Programs />
      <Shared />
    </div>
  );
}

function Programs() {
  const words = useSurfaceWords();
  const waits = useProgramsList();
  if (waits.length === 0) return null;
  return (
    <section aria-labelledby="programs-title">
      <h2 id="programs-title">{words.programsTitle}</h2>
      <p className="hint">{words.programsLead}</p>
      <ul className="rows">
        {waits.map((one) => (
          <Row key={one.key} one={one} />
        ))}
      </ul>
    </section>
  );
}

function Row({ one }: { one: Waiting }) {
  const words = useSurfaceWords();
  const locale = useStore(language);
  const told = useTold();
  return (
    <li data-state={one.kind === 'program' ? undefined : 'wait'}>
      <span className="dot" aria-hidden="true" />
      <div className="row-main">
        <Link href={one.href}>{one.kind === 'notes' ? words.notesWait(one.text) : told(one.text)}</Link>
        <p className="hint">{[words[one.kind], one.about, one.since && stamp(one.since, new Date(), locale)].filter(Boolean).join(' · ')}</p>
      </div>
      <Link href={one.href} className="button" aria-hidden="true" tabIndex={-1}>
        {one.kind === 'program' ? words.look : one.kind === 'decision' || one.kind === 'lesson' || one.kind === 'notes' ? words.decide : words.answer}
      </Link>
    </li>
  );
}

const places: Record<Share['kind'], (id: string) => string> = {
  context: (id) => `/contexts/${id}`,
  document_set: (id) => `/contexts/sets/${id}`,
  artifact: (id) => `/artifacts/${id}`,
};

function Shared() {
  const words = useSurfaceWords();
  const locale = useStore(language);
  const shares = useInfiniteQuery({
    queryKey: ['shares', 'received'],
    queryFn: ({ pageParam, signal }) => ask('listShares', { query: { received: true, cursor: pageParam, limit: 50 }, signal }),
    initialPageParam: '',
    getNextPageParam: (last) => last.next_cursor || undefined,
  });
  const all = shares.data?.pages.flatMap((page) => page.data);
  return (
    <section aria-labelledby="shared-title">
      <h2 id="shared-title">{words.sharedTitle}</h2>
      {shares.isError && (
        <p role="alert" className="problem">
          {sentence(shares.error)}
        </p>
      )}
      {all?.length === 0 && <p className="hint">{words.sharedNone}</p>}
      <ul className="rows">
        {all?.map((one) => (
          <li key={one.id}>
            <div className="row-main">
              <Link href={places[one.kind](one.object_id)}>{one.name}</Link>
              <p className="hint">{[words.kinds[one.kind], words.from(one.owner.email), one.write ? words.mayAdd : '', stamp(one.created_at, new Date(), locale)].filter(Boolean).join(' · ')}</p>
            </div>
          </li>
        ))}
      </ul>
      {shares.hasNextPage && (
        <button type="button" className="more-rows" onClick={() => void shares.fetchNextPage()}>
          {words.showMore}
        </button>
      )}
    </section>
  );
}
