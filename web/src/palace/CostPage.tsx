import { Link, useLocation, useSearch } from 'wouter';
import { useAgents, useCosts, useMisses, type Costs } from '../api/palace.ts';
import { sentence } from '../i18n/errors.ts';
import { language, useWords } from '../i18n/index.ts';
import { count } from '../lib/format.ts';
import { useStore } from '../lib/store.ts';
import { when } from '../operate/figures.ts';
import { Chooser } from '../operate/Listing.tsx';
import { Card, Loading, Pills } from '../operate/parts.tsx';
import { dayOf } from '../operate/UsageTiles.tsx';
import { Bars } from '../plot/Bars.tsx';
import { Table } from '../plot/Plot.tsx';
import { daysOf } from './costs.ts';
import { cacheShare, percent, readOf, tokens, unknown, usd } from './figures.ts';
import { Empty, Head } from './parts.tsx';
import { usePalaceWords } from './words.ts';

const spans = [7, 30, 90] as const;

/** What agents cost: tokens by how they were paid for, why the cache was missed, and what views saved. */
export function CostPage() {
  const shell = useWords();
  const words = usePalaceWords();
  const [, go] = useLocation();
  const asked = new URLSearchParams(useSearch());
  const span = spans.find((one) => one === Number(asked.get('days'))) ?? 30;
  const agent = asked.get('agent') ?? '';
  const agents = useAgents();
  const costs = useCosts(span, agent);
  const to = (days: number, of: string) => {
    const query = new URLSearchParams({ ...(days === 30 ? {} : { days: String(days) }), ...(of ? { agent: of } : {}) }).toString();
    go(query ? `/operate/palace/cost?${query}` : '/operate/palace/cost', { replace: true });
  };
  const none = agents.data?.length === 0;
  return (
    <>
      <Head title={words.cost} here="cost" lead={words.costLead}>
        {!none && (
          <div className="filters cost-tools">
            <Chooser
              label={words.ofAgent}
              any={words.allAgents}
              value={agent}
              options={(agents.data ?? []).map((one): [string, string] => [one.id, `${one.kind === 'subagent' ? words.subagent(one.agent_id) : words.agent(one.agent_id)} ${one.name}`])}
              onChoose={(one) => to(span, one)}
            />
            <Pills label={words.span} options={spans.map((one) => [String(one), words.days(one)] as const)} value={String(span)} onChoose={(one) => to(Number(one), agent)} />
          </div>
        )}
      </Head>
      {none && <Empty />}
      {costs.isError && (
        <div className="load-problem">
          <p role="alert" className="problem">
            {words.loadFailed} {sentence(costs.error)}
          </p>
          <button type="button" onClick={() => void costs.refetch()}>
            {shell.tryAgain}
          </button>
        </div>
      )}
      {costs.isPending && <Loading />}
      {costs.data && !none && (
        <div className="costs" aria-busy={costs.isPlaceholderData || undefined}>
          <Tiles costs={costs.data} />
          <Classes costs={costs.data} span={span} />
          <Ledger costs={costs.data} />
          <Misses costs={costs.data} agent={agent} />
        </div>
      )}
    </>
  );
}

function Tiles({ costs }: { costs: Costs }) {
  const words = usePalaceWords();
  const locale = useStore(language);
  const tiles: [string, string, string][] = [
    [costs.at_list_price ? words.tileListPrice : words.tilePaid, usd(costs.usd, locale), `${words.requests(costs.exchanges)}${costs.unpriced > 0 ? `, ${words.unpriced(costs.unpriced)}` : ''}`],
    [words.tileCache, percent(cacheShare(costs), locale), words.tileCacheMore],
    [words.tileTokens, tokens(readOf(costs) + costs.output_tokens, locale), words.tileAnswers(tokens(costs.output_tokens, locale))],
  ];
  return (
    <dl className="figure-row">
      {tiles.map(([name, value, more]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
          <dd className="hint">{more}</dd>
        </div>
      ))}
    </dl>
  );
}

function Classes({ costs, span }: { costs: Costs; span: number }) {
  const words = usePalaceWords();
  const locale = useStore(language);
  const days = daysOf(costs, span, new Date());
  const write = (value: number) => tokens(value, locale);
  return (
    <section className="panel card">
      <Bars
        title={words.classesADay}
        summary={words.classesSummary(write(readOf(costs) + costs.output_tokens), percent(cacheShare(costs), locale))}
        note={words.classesNote}
        series={[
          { name: words.classRead, tone: 'main' },
          { name: words.classWrite, tone: 'open' },
          { name: words.classInput, tone: 'faint' },
          { name: words.classOutput, tone: 'second' },
        ]}
        columns={days.map((one) => ({ label: dayOf(one.day, locale), values: [one.read, one.write, one.input, one.output] }))}
        least={1_000}
        write={write}
        table={{
          head: [words.day, words.classRead, words.classWrite, words.classInput, words.classOutput, words.costs],
          rows: days.toReversed().map((one) => [dayOf(one.day, locale), write(one.read), write(one.write), write(one.input), write(one.output), usd(one.usd, locale)]),
        }}
      />
    </section>
  );
}

/** What was paid, and how far what is foretold of the cache can be trusted. */
function Ledger({ costs }: { costs: Costs }) {
  const words = usePalaceWords();
  const locale = useStore(language);
  const { ruler, saved } = costs;
  const { told } = ruler;
  const known = saved.paid_usd !== null && saved.raw_usd !== null;
  const gap = known ? saved.raw_usd! - saved.paid_usd! : null;
  const more = gap !== null && gap < 0;
  const untold = !told && ruler.exchanges > 0 ? words.cannotTell : unknown;
  return (
    <Card title={words.ledger} className="ledger">
      <p className="hint">{words.ledgerLead}</p>
      <dl>
        <div>
          <dt>{words.ledgerPaid}</dt>
          <dd>{usd(saved.paid_usd ?? costs.usd, locale)}</dd>
        </div>
        <div>
          <dt>{words.ledgerRaw}</dt>
          <dd>
            {known && told ? usd(saved.raw_usd, locale) : untold}
            {known && told && saved.low_usd !== null && saved.high_usd !== null && <small>{words.ledgerRange(usd(saved.low_usd, locale), usd(saved.high_usd, locale))}</small>}
          </dd>
        </div>
        <div data-tone={told && gap !== null && gap !== 0 ? (more ? 'bad' : 'good') : undefined}>
          <dt>{more && told ? words.ledgerMore : words.ledgerSaved}</dt>
          <dd>{gap !== null && told ? usd(Math.abs(gap), locale) : untold}</dd>
        </div>
      </dl>
      {ruler.exchanges > 0 && (
        <p className="hint">
          {told ? words.rulerWell(percent(ruler.p50, locale), percent(ruler.p90, locale), count(ruler.exchanges, locale)) : words.cannotTellWhy(percent(ruler.p90, locale))}
        </p>
      )}
      {known && gap === 0 && <p className="hint">{words.noView}</p>}
    </Card>
  );
}

/** Why the cache was missed, and in which requests. */
function Misses({ costs, agent }: { costs: Costs; agent: string }) {
  const words = usePalaceWords();
  const locale = useStore(language);
  const list = useMisses(agent);
  const all = list.data?.pages.flatMap((page) => page?.data ?? []) ?? [];
  return (
    <Card title={words.misses} className="misses">
      <p className="hint">{costs.misses.length > 0 ? words.missesLead : words.missesNone}</p>
      {costs.misses.length > 0 && (
        <Table
          title={words.misses}
          table={{
            head: [words.missWhy, words.exchanges, words.tileTokens, words.costs],
            rows: costs.misses.map((one) => [words.missCause[one.cause] ?? one.cause, count(one.count, locale), tokens(one.tokens, locale), usd(one.usd, locale)]),
          }}
        />
      )}
      {list.isError && (
        <p role="alert" className="problem">
          {sentence(list.error)}
        </p>
      )}
      {all.length > 0 && (
        <ul aria-label={words.missesNewest}>
          {all.map((one) => (
            <li key={one.exchange}>
              <Link href={`/operate/palace/exchanges/${one.exchange}`}>{when(one.at, locale)}</Link>
              <span>{words.missCause[one.cause] ?? one.cause}</span>
              {one.where && <code>{one.where}</code>}
              <small>
                {words.tokensOf(tokens(one.tokens, locale))} · {usd(one.usd, locale)}
              </small>
            </li>
          ))}
        </ul>
      )}
      {list.hasNextPage && (
        <button type="button" className="quiet" disabled={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          {words.more}
        </button>
      )}
    </Card>
  );
}
