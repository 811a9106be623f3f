import { useMemo, useState } from 'react';
import { Link } from 'wouter';
import { Failure } from '../api/failure.ts';
import { useAgents, useBodies, useExchange, useExchanges, type Exchange } from '../api/palace.ts';
import { Json } from '../code/Json.tsx';
import { Diff } from '../diff/Diff.tsx';
import { sentence } from '../i18n/errors.ts';
import { language } from '../i18n/index.ts';
import { clock, duration, fileSize } from '../lib/format.ts';
import { useStore } from '../lib/store.ts';
import { Code } from '../markdown/Code.tsx';
import { when } from '../operate/figures.ts';
import { Card, Loading, Trouble } from '../operate/parts.tsx';
import { bytesOf, compare, glance, partsOf, type Changed, type Part } from './compare.ts';
import { tokens, unknown, usd } from './figures.ts';
import { Trail, useTitle } from './parts.tsx';
import { usePalaceWords, type PalaceWords } from './words.ts';

/** A request as its client sent it, against what went upstream. */
export function SentPage({ id }: { id: string }) {
  const words = usePalaceWords();
  const exchange = useExchange(id);
  if (exchange.data) return <Shown exchange={exchange.data} />;
  if (exchange.isPending) return <Loading />;
  const gone = exchange.error instanceof Failure && (exchange.error.status === 404 || exchange.error.status === 400);
  return <Trouble text={gone ? words.exchangeNotFound : `${words.loadFailed} ${sentence(exchange.error)}`} {...(gone ? {} : { retry: () => void exchange.refetch() })} back="/operate/palace" backText={words.back} />;
}

function nameOf(exchange: Exchange, words: PalaceWords): string {
  return exchange.number > 0 ? words.exchange(exchange.number) : words.kind[exchange.kind] || words.exchange(0);
}

function Shown({ exchange }: { exchange: Exchange }) {
  const words = usePalaceWords();
  const locale = useStore(language);
  useTitle(words.sent);
  const agent = useAgents().data?.find((one) => one.id === exchange.agent);
  const trail: [string, string][] = [['/operate/palace', words.agents]];
  if (agent) trail.push([`/operate/palace/agents/${agent.agent_id}${exchange.lineage ? `?lineage=${exchange.lineage}` : ''}`, words.agent(agent.agent_id)]);
  return (
    <article className="sent">
      <header className="palace-head">
        <Trail steps={trail} />
        <h1>
          {words.sent} <small>{nameOf(exchange, words)}</small>
        </h1>
        <p className="byline">
          <span>{when(exchange.started_at, locale)}</span>
          <span>{exchange.model}</span>
          <code>
            {exchange.method} {exchange.path}
          </code>
        </p>
      </header>
      <div className="sent-body">
        <Siblings exchange={exchange} />
        <div className="sent-main">
          <Facts exchange={exchange} />
          <Both key={exchange.id} exchange={exchange} />
        </div>
      </div>
    </article>
  );
}

/** The other requests of the same history. */
function Siblings({ exchange }: { exchange: Exchange }) {
  const words = usePalaceWords();
  const locale = useStore(language);
  const filter = exchange.lineage ? { lineage: exchange.lineage } : exchange.agent ? { agent: exchange.agent } : {};
  const list = useExchanges(filter);
  const all = list.data?.pages.flatMap((page) => page.data) ?? [];
  const at = all.findIndex((one) => one.id === exchange.id);
  const [older, newer] = at < 0 ? [all[0], undefined] : [all[at + 1], all[at - 1]];
  const now = new Date();
  return (
    <nav className="panel card siblings" aria-label={words.exchanges}>
      <div className="card-head">
        <h2>{words.exchanges}</h2>
        <span className="flex-row">
          <Step to={older} name={words.before} sign="↓" />
          <Step to={newer} name={words.after} sign="↑" />
        </span>
      </div>
      <ol>
        {all.map((one) => (
          <li key={one.id}>
            <Link href={`/operate/palace/exchanges/${one.id}`} aria-current={one.id === exchange.id ? 'page' : undefined}>
              <span>{nameOf(one, words)}</span>
              <small>
                {clock(Date.parse(one.started_at), now, locale)}
                {one.status >= 400 || one.status === 0 ? ` · ${one.status || unknown}` : ''}
              </small>
            </Link>
          </li>
        ))}
      </ol>
      {list.hasNextPage && (
        <button type="button" className="quiet" disabled={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          {words.more}
        </button>
      )}
    </nav>
  );
}

function Step({ to, name, sign }: { to: Exchange | undefined; name: string; sign: string }) {
  if (!to) return null;
  return (
    <Link href={`/operate/palace/exchanges/${to.id}`} className="step-link">
      {name} <span aria-hidden="true">{sign}</span>
    </Link>
  );
}

function Facts({ exchange }: { exchange: Exchange }) {
  const words = usePalaceWords();
  const locale = useStore(language);
  const { usage } = exchange;
  const took = exchange.ended_at ? duration(Date.parse(exchange.ended_at) - Date.parse(exchange.started_at), locale) : unknown;
  const facts: [string, string][] = [
    [words.readCache, tokens(usage.cache_read_tokens, locale)],
    [words.wrote, tokens(usage.cache_write_5m_tokens + usage.cache_write_1h_tokens, locale)],
    [words.uncached, tokens(usage.input_tokens, locale)],
    [words.answered, tokens(usage.output_tokens, locale)],
    [words.costs, usd(exchange.usd, locale)],
    [words.took, took],
  ];
  const { miss } = exchange;
  return (
    <>
      <dl className="figure-row">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <ul className="remarks">
        {(exchange.status !== 200 || exchange.error) && (
          <li className="problem">
            {words.status} {exchange.status || unknown} {exchange.error}
          </li>
        )}
        {exchange.cut_by && <li>{words.cutBy(exchange.cut_by)}</li>}
        {exchange.masked && <li>{words.masked}</li>}
        {miss && (
          <li>
            {words.missOf(words.missCause[miss.cause] ?? miss.cause)} {miss.where && <code>{miss.where}</code>}
            {typeof exchange.predicted_read === 'number' && <small>{words.missTokens(tokens(usage.cache_read_tokens, locale), tokens(exchange.predicted_read, locale))}</small>}
          </li>
        )}
      </ul>
    </>
  );
}

/** What was sent, and what of it went upstream. */
function Both({ exchange }: { exchange: Exchange }) {
  const words = usePalaceWords();
  const locale = useStore(language);
  const bodies = useBodies(exchange.id);
  const found = useMemo(() => bodies.data && bodies.data.raw !== bodies.data.sent && compare(bodies.data.raw, bodies.data.sent), [bodies.data]);
  if (bodies.isError) {
    const lost = bodies.error instanceof Failure && bodies.error.status === 404;
    const erased = bodies.error instanceof Failure && bodies.error.detail('reason') === 'erased';
    return <p className={lost ? 'nothing' : 'problem'}>{erased ? words.requestErased : lost ? words.lost : sentence(bodies.error)}</p>;
  }
  if (!bodies.data) return <Loading />;
  const { raw, sent } = bodies.data;
  const less = bytesOf(raw) - bytesOf(sent);
  const equal = raw === sent;
  return (
    <>
      <div className="panel verdict" data-equal={equal || undefined}>
        <p className="verdict-says">{equal ? words.equal : !found ? words.noJSON : less > 0 ? words.differs(found.changed.length, fileSize(less, locale)) : words.differsMore(found.changed.length)}</p>
        <p className="hint">{equal ? words.equalMore(fileSize(bytesOf(raw), locale)) : found ? words.sameParts(found.same) : ''}</p>
      </div>
      {found && found.changed.map((one) => <Difference key={one.part.key} one={one} />)}
      {!equal && !found && <Diff before={raw.split('\n')} after={sent.split('\n')} />}
      <Outline raw={raw} />
    </>
  );
}

function partName(part: Part, words: PalaceWords): string {
  switch (part.kind) {
    case 'system':
      return words.part.system(part.number);
    case 'tools':
      return words.part.tools;
    case 'message':
      return words.part.message(part.number, words.role[part.role] ?? part.role);
    case 'rest':
      return words.part.rest;
  }
}

function Difference({ one }: { one: Changed }) {
  const words = usePalaceWords();
  return (
    <Card title={partName(one.part, words)} className="difference">
      <Diff before={one.before} after={one.after} />
    </Card>
  );
}

/** What a request is made of, each part to open. */
function Outline({ raw }: { raw: string }) {
  const words = usePalaceWords();
  const locale = useStore(language);
  const parts = useMemo(() => partsOf(raw), [raw]);
  const [shown, setShown] = useState(page);
  if (!parts) {
    return (
      <Card title={words.asSent} note={words.noJSON}>
        <Code text={raw} language="" closed />
      </Card>
    );
  }
  return (
    <Card title={words.asSent} note={fileSize(bytesOf(raw), locale)} className="outline">
      <ul>
        {parts.slice(0, shown).map((part) => (
          <Folded key={part.key} part={part} />
        ))}
      </ul>
      {parts.length > shown && (
        <button type="button" className="quiet" onClick={() => setShown(shown + page)}>
          {words.more}
        </button>
      )}
    </Card>
  );
}

const page = 60; // parts shown at once

function Folded({ part }: { part: Part }) {
  const words = usePalaceWords();
  const locale = useStore(language);
  const [opened, setOpened] = useState(false);
  const size = useMemo(() => bytesOf(JSON.stringify(part.value)), [part.value]);
  const kind = (part.value as { type?: unknown } | null)?.type;
  return (
    <li>
      <details onToggle={(event) => setOpened(opened || event.currentTarget.open)}>
        <summary>
          <span>{partName(part, words)}</span>
          {part.kind === 'message' && typeof kind === 'string' && kind !== 'text' && <code>{kind}</code>}
          <q>{glance(part.value)}</q>
          <small>{fileSize(size, locale)}</small>
        </summary>
        {opened && <Json value={part.value} />}
      </details>
    </li>
  );
}
