import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { Link } from 'wouter';
import { useProgramConversations, type useConversations } from '../api/queries.ts';
import type { Conversation } from '../api/types.ts';
import { sentence } from '../i18n/errors.ts';
import { language, useWords, type Language } from '../i18n/index.ts';
import type { Dictionary } from '../i18n/en.ts';
import { daysAgo, regional } from '../lib/format.ts';
import { useStore } from '../lib/store.ts';
import { ConversationRow } from './ConversationRow.tsx';
import { Found } from './Found.tsx';
import { FromPrograms } from './FromPrograms.tsx';
import { Icon } from './Icon.tsx';

const Overview = lazy(() => import('../surfaces/Overview.tsx'));

interface Props {
  id: string;
  query: ReturnType<typeof useConversations>;
  active: string | null;
  open: boolean;
  close(): void;
}

export function Sidebar({ id, query, active, open, close }: Props) {
  const words = useWords();
  const [filter, setFilter] = useState('');
  const box = useRef<HTMLElement>(null);

  useEffect(() => {
    if (open) box.current?.querySelector<HTMLElement>('a, button')?.focus();
  }, [open]);

  return (
    <nav
      id={id}
      ref={box}
      className="sidebar"
      aria-label={words.conversations}
      onKeyDown={(event) => {
        if (event.key === 'Escape' && open) close();
      }}
    >
      <div className="sidebar-head">
        <Link href="/" className="button new">
          {words.newConversation}
        </Link>
        <button type="button" className="icon-button drawer-close" aria-label={words.closeSidebar} onClick={close}>
          <Icon name="close" />
        </button>
      </div>
      <Suspense>
        <Overview />
      </Suspense>
      <input
        type="search"
        value={filter}
        onChange={(event) => setFilter(event.target.value)}
        placeholder={words.searchConversations}
        aria-label={words.filterConversations}
      />
      <List query={query} filter={filter} active={active} />
    </nav>
  );
}

function List({ query, filter, active }: { query: Props['query']; filter: string; active: string | null }) {
  const words = useWords();
  const locale = useStore(language);
  const all = query.data?.pages.flatMap((page) => page.data);
  const programs = useProgramConversations();
  const begun = (programs.data?.pages.flatMap((page) => page.data) ?? []).filter((one) => matches(one, filter));
  const groups = byDay((all ?? []).filter((one) => matches(one, filter)), words, locale);
  return (
    <div className="conversations">
      {groups.map((group) => (
        <section key={group.name} aria-label={group.name}>
          <h2>{group.name}</h2>
          <ul>
            {group.items.map((one) => (
              <ConversationRow key={one.id} conversation={one} active={one.id === active} />
            ))}
          </ul>
        </section>
      ))}
      {query.isError && (
        <p className="hint" role="alert">
          {sentence(query.error)}
        </p>
      )}
      {all && groups.length + begun.length === 0 && <p className="hint">{filter ? words.noMatch : words.noConversations}</p>}
      {query.hasNextPage && (
        <button type="button" className="quiet" onClick={() => void query.fetchNextPage()}>
          {words.showMore}
        </button>
      )}
      <FromPrograms query={programs} found={begun} searched={filter.trim() !== ''} active={active} />
      {filter && <Found text={filter} />}
    </div>
  );
}

function matches(conversation: Conversation, filter: string): boolean {
  const wanted = plain(filter.trim());
  return plain(conversation.title).includes(wanted) || conversation.id.startsWith(wanted);
}

/** As the server compares words: without capitals and accents. */
function plain(text: string): string {
  return text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
}

interface Group {
  name: string;
  items: Conversation[];
}

/** What is pinned, then by calendar day: today, yesterday, the week, then by month. */
function byDay(conversations: Conversation[], words: Dictionary, locale: Language): Group[] {
  const now = new Date();
  const groups: Group[] = [];
  for (const one of conversations) {
    const name = one.pinned ? words.pinned : dayName(one.updated_at, now, words, locale);
    const last = groups.at(-1);
    if (last?.name === name) last.items.push(one);
    else groups.push({ name, items: [one] });
  }
  return groups;
}

function dayName(time: string, now: Date, words: Dictionary, locale: Language): string {
  const days = daysAgo(time, now);
  if (days <= 0) return words.today;
  if (days === 1) return words.yesterday;
  if (days <= 7) return words.lastWeek;
  return new Date(time).toLocaleDateString(regional(locale), { month: 'long', year: 'numeric' });
}
