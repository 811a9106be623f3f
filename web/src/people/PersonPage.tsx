import './styles.ts';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { flushSync } from 'react-dom';
import { Link } from 'wouter';
import { Failure } from '../api/failure.ts';
import { useAudit, usePerson, usePlans, type Account, type AuditEntry } from '../api/people.ts';
import { session } from '../api/session.ts';
import { language, type Language } from '../i18n/index.ts';
import { count, fileSize, money } from '../lib/format.ts';
import { useStore } from '../lib/store.ts';
import { when } from '../operate/figures.ts';
import { Ago, Card, Loading, Trouble } from '../operate/parts.tsx';
import { PersonAct, type ActName } from './PersonAct.tsx';
import { State } from './PeoplePage.tsx';
import { usePeopleWords, type PeopleWords, type Role, type What } from './words.ts';

/** One person: who they are, what they used, and what can be done. */
export default function PersonPage({ id }: { id: string }) {
  const words = usePeopleWords();
  const person = usePerson(id);
  const back = { back: '/operate/people', backText: words.back };
  if (person.data) return <Whole person={person.data} />;
  if (person.isPending) return <Loading />;
  const gone = person.error instanceof Failure && (person.error.status === 404 || person.error.status === 400);
  return <Trouble text={gone ? words.notFound : words.loadFailed} {...(gone ? {} : { retry: () => void person.refetch() })} {...back} />;
}

function Whole({ person }: { person: Account }) {
  const words = usePeopleWords();
  const [asked, setAsked] = useState<ActName | null>(null);
  const [said, setSaid] = useState('');
  const title = useRef<HTMLHeadingElement>(null);
  usePlans(); // the dialogs need them at once
  useEffect(() => {
    document.title = `${person.email} · ${words.people} · Liminal`;
  }, [person.email, words]);

  /** What an act led to is said aloud, and the focus stays on the page. */
  function done(act: ActName) {
    flushSync(() => setAsked(null)); // behind a dialog nothing takes the focus
    setSaid(words.done[act]);
    title.current?.focus();
  }

  return (
    <article className="person">
      <p className="way-back">
        <Link href="/operate/people">{words.back}</Link>
      </p>
      <h1 ref={title} tabIndex={-1}>
        {person.email}
      </h1>
      <p className="people-said" role="status">
        {said}
      </p>
      <div className="person-cards">
        <AccountCard person={person} onAsk={setAsked} />
        <UseCard person={person} onAsk={setAsked} />
      </div>
      <Log id={person.id} />
      {asked && <PersonAct key={asked} act={asked} person={person} onClose={() => setAsked(null)} onDone={() => done(asked)} />}
    </article>
  );
}

interface CardProps {
  person: Account;
  onAsk(act: ActName): void;
}

function AccountCard({ person, onAsk }: CardProps) {
  const words = usePeopleWords();
  const locale = useStore(language);
  const self = useStore(session).user?.id === person.id;
  return (
    <Card title={words.account}>
      <dl className="facts">
        <Fact name={words.name}>
          {person.handle || '–'} {self && <small>({words.you})</small>}
        </Fact>
        <Fact name={words.role}>{words.roleName(person.role)}</Fact>
        <Fact name={words.plan}>{words.planName(person.plan)}</Fact>
        <Fact name={words.state}>
          <State one={person} />
        </Fact>
        <Fact name={words.lastSeen}>{person.last_seen_at ? <Ago time={person.last_seen_at} /> : words.never}</Fact>
        <Fact name={words.signIns}>{count(person.sign_ins, locale)}</Fact>
        <Fact name={words.secondFactor}>{person.mfa_enabled ? words.on : words.off}</Fact>
        <Fact name={words.since}>{when(person.created_at, locale)}</Fact>
      </dl>
      <div className="flex-row person-acts">
        <button type="button" onClick={() => onAsk('role')}>
          {words.changeRole}
        </button>
        <button type="button" disabled={person.sign_ins === 0} onClick={() => onAsk('signOut')}>
          {words.signOut}
        </button>
        {person.mfa_enabled && !self && (
          <button type="button" className="danger" onClick={() => onAsk('clearFactor')}>
            {words.clearFactor}
          </button>
        )}
        {!self && (
          <button type="button" className={person.active ? 'danger' : ''} onClick={() => onAsk(person.active ? 'suspend' : 'reactivate')}>
            {person.active ? words.suspend : words.reactivate}
          </button>
        )}
      </div>
    </Card>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

function UseCard({ person, onAsk }: CardProps) {
  const words = usePeopleWords();
  const locale = useStore(language);
  const { allowed, storage } = person;
  const own = Object.entries(person.limits);
  return (
    <Card title={words.use}>
      <dl className="meters">
        <Meter name={words.tokensToday} used={person.today.tokens_used} of={allowed.tokens_per_day ?? 0} write={(n) => count(n, locale)} />
        <Meter name={words.costMonth} used={person.month.cost_usd} of={allowed.usd_per_month ?? 0} write={(n) => money(n, locale)} />
        <Meter name={words.filesKept} used={storage.files} of={storage.max_files} write={(n) => count(n, locale)} />
        <Meter name={words.filesSize} used={storage.used_bytes} of={storage.max_bytes} write={(n) => fileSize(n, locale)} />
      </dl>
      <p className="hint">{person.budget ? words.ownBudget : words.planBudget}.</p>
      <h3>{words.ownNumbers}</h3>
      {own.length === 0 ? (
        <p className="hint">{words.noOwnNumbers}</p>
      ) : (
        <ul className="own-numbers">
          {own.map(([key, n]) => (
            <li key={key}>
              {words.numbers[key]?.[0] ?? key}: <b>{count(n, locale)}</b> <small>{words.numbers[key]?.[1]}</small>
            </li>
          ))}
        </ul>
      )}
      <div className="flex-row person-acts">
        <button type="button" onClick={() => onAsk('budget')}>
          {words.changeBudget}
        </button>
        <button type="button" onClick={() => onAsk('limits')}>
          {words.changeLimits}
        </button>
      </div>
    </Card>
  );
}

/** What was used of what may be; 0 is no bound. */
function Meter({ name, used, of, write }: { name: string; used: number; of: number; write(n: number): string }) {
  const words = usePeopleWords();
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {of > 0 ? words.ofBound(write(used), write(of)) : `${write(used)}, ${words.unbounded}`}
        {of > 0 && <progress value={Math.min(used, of)} max={of} aria-label={name} data-full={used >= of || undefined} />}
      </dd>
    </div>
  );
}

/** What administrators did to this account. */
function Log({ id }: { id: string }) {
  const words = usePeopleWords();
  const locale = useStore(language);
  const log = useAudit(id);
  const all = log.data?.pages.flatMap((page) => page.data) ?? [];
  return (
    <Card title={words.log} className="audit">
      {log.data && all.length === 0 && <p className="hint">{words.noLog}</p>}
      <ol>
        {all.map((one) => (
          <li key={one.id}>
            <p>
              {words.did(one.what as What, one.became)} {told(one, words, locale)}
            </p>
            <small>
              {one.by.email || words.gone} · <time dateTime={one.at}>{when(one.at, locale)}</time>
            </small>
          </li>
        ))}
      </ol>
      {log.hasNextPage && (
        <button type="button" className="more-rows" disabled={log.isFetchingNextPage} onClick={() => void log.fetchNextPage()}>
          {words.more}
        </button>
      )}
    </Card>
  );
}

/** What an entry says of what was before and after. */
function told(one: AuditEntry, words: PeopleWords, locale: Language): string {
  return Object.keys(one.became)
    .filter((name) => name in words.facts)
    .map((name) => `${words.facts[name]}: ${fact(name, one.was[name], words, locale)} → ${fact(name, one.became[name], words, locale)}`)
    .join(' · ');
}

function fact(name: string, value: unknown, words: PeopleWords, locale: Language): string {
  if (name === 'role') return words.roleName(value as Role);
  if (name === 'plan') return words.planName(String(value));
  if (name === 'budget') {
    if (!value) return words.planBudgetShort;
    const { tokens_per_day, usd_per_month } = value as { tokens_per_day: number; usd_per_month: number };
    const parts = [tokens_per_day > 0 && words.tokensShort(count(tokens_per_day, locale)), usd_per_month > 0 && words.usdShort(money(usd_per_month, locale))];
    return parts.filter(Boolean).join(', ') || words.unbounded;
  }
  const own = Object.entries((value ?? {}) as Record<string, number>);
  return own.map(([key, n]) => `${words.numbers[key]?.[0] ?? key} ${count(n, locale)}`).join(', ') || words.planBudgetShort;
}
