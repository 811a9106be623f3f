import './styles.ts';
import { useEffect, useState } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import { usePeople, usePlans, type Account, type PeopleFilter } from '../api/people.ts';
import { language } from '../i18n/index.ts';
import { money } from '../lib/format.ts';
import { useStore } from '../lib/store.ts';
import { Chooser, Listing } from '../operate/Listing.tsx';
import { Ago } from '../operate/parts.tsx';
import { short } from '../operate/UsageTiles.tsx';
import { usePeopleWords } from './words.ts';

const roles = ['user', 'power', 'admin'] as const;
const states = ['active', 'suspended'] as const;
const pause = 250; // ms without a key until what was typed is searched for

/** Everybody who has an account, with what they used. */
export default function PeoplePage() {
  const words = usePeopleWords();
  const [filter, narrow] = useFilter();
  const people = usePeople(filter);
  const all = people.data?.pages.flatMap((page) => page.data) ?? [];
  useEffect(() => {
    document.title = `${words.people} · Liminal`;
  }, [words]);
  return (
    <Listing title={words.people} filters={<Filters filter={filter} narrow={narrow} />} pages={people} nothing={words.none} more={words.more}>
      {all.length > 0 ? <Table people={all} stale={people.isPlaceholderData} /> : null}
    </Listing>
  );
}

type Narrow = (change: Partial<PeopleFilter>) => void;

/** The filter stands in the address, so that coming back finds the list as it was. */
function useFilter(): [PeopleFilter, Narrow] {
  const [, go] = useLocation();
  const given = new URLSearchParams(useSearch());
  const known = <T extends string>(name: string, list: readonly T[]): T | '' => list.find((one) => one === given.get(name)) ?? '';
  const filter: PeopleFilter = { q: given.get('q') ?? '', role: known('role', roles), plan: given.get('plan') ?? '', state: known('state', states) };
  function narrow(change: Partial<PeopleFilter>) {
    const address = new URLSearchParams();
    for (const [name, value] of Object.entries({ ...filter, ...change })) if (value) address.set(name, value);
    const text = address.toString();
    go(text ? `/operate/people?${text}` : '/operate/people', { replace: true });
  }
  return [filter, narrow];
}

function Filters({ filter, narrow }: { filter: PeopleFilter; narrow: Narrow }) {
  const words = usePeopleWords();
  const plans = usePlans().data?.plans.map((one) => one.name).filter((one) => one !== 'unverified') ?? [];
  return (
    <search className="filters find-people">
      <Find value={filter.q} onFind={(q) => narrow({ q })} />
      <Chooser label={words.role} any={words.any} value={filter.role} options={roles.map((one) => [one, words.roleName(one)])} onChoose={(role) => narrow({ role })} />
      <Chooser label={words.plan} any={words.any} value={filter.plan} options={plans.map((one) => [one, words.planName(one)])} onChoose={(plan) => narrow({ plan })} />
      <Chooser label={words.state} any={words.any} value={filter.state} options={states.map((one) => [one, words[one]])} onChoose={(state) => narrow({ state })} />
    </search>
  );
}

/** What is typed is searched for once the typing pauses. */
function Find({ value, onFind }: { value: string; onFind(q: string): void }) {
  const words = usePeopleWords();
  const [text, setText] = useState(value);
  useEffect(() => {
    if (text.trim() === value) return;
    const timer = setTimeout(() => onFind(text.trim()), pause);
    return () => clearTimeout(timer);
  }, [text, value, onFind]);
  return (
    <label className="filter find-person">
      <span>{words.find}</span>
      <input type="search" value={text} maxLength={200} onChange={(event) => setText(event.target.value)} />
    </label>
  );
}

function Table({ people, stale }: { people: Account[]; stale: boolean }) {
  const words = usePeopleWords();
  const locale = useStore(language);
  return (
    <table className="people" aria-busy={stale}>
      <caption className="hidden">{words.people}</caption>
      <thead>
        <tr>
          <th scope="col">{words.name}</th>
          <th scope="col">{words.role}</th>
          <th scope="col">{words.plan}</th>
          <th scope="col">{words.state}</th>
          <th scope="col">{words.lastSeen}</th>
          <th scope="col" className="figure">
            {words.today}
          </th>
          <th scope="col" className="figure">
            {words.thisMonth}
          </th>
        </tr>
      </thead>
      <tbody>
        {people.map((one) => (
          <tr key={one.id}>
            <th scope="row">
              <Link href={`/operate/people/${one.id}`}>{one.email}</Link>
              {one.handle && <small>{one.handle}</small>}
            </th>
            <td data-label={words.role}>{words.roleName(one.role)}</td>
            <td data-label={words.plan}>{words.planName(one.plan)}</td>
            <td data-label={words.state}>
              <State one={one} />
            </td>
            <td data-label={words.lastSeen}>{one.last_seen_at ? <Ago time={one.last_seen_at} /> : words.never}</td>
            <td data-label={words.today} className="figure">
              {bound(one.allowed.tokens_per_day)
                ? words.tokensOf(short(one.today.tokens_used, locale), short(one.allowed.tokens_per_day, locale))
                : words.tokens(short(one.today.tokens_used, locale))}
            </td>
            <td data-label={words.thisMonth} className="figure">
              {bound(one.allowed.usd_per_month)
                ? words.ofBound(money(one.month.cost_usd, locale), money(one.allowed.usd_per_month, locale))
                : money(one.month.cost_usd, locale)}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Whether a figure of a budget bounds anything. */
function bound(n: number | undefined): n is number {
  return n !== undefined && n > 0;
}

/** Whether an account can be used. */
export function State({ one }: { one: Account }) {
  const words = usePeopleWords();
  const tone = one.active ? (one.unverified ? 'wait' : 'settled') : 'bad';
  return (
    <span className="run-status" data-state={tone}>
      <span className="dot" aria-hidden="true" />
      {one.active ? (one.unverified ? words.unverified : words.active) : words.suspended}
    </span>
  );
}
