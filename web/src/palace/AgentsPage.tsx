import { useEffect, useState, type CSSProperties } from 'react';
import { Link } from 'wouter';
import { useAgents, type Agent } from '../api/palace.ts';
import { sentence } from '../i18n/errors.ts';
import { language, useWords } from '../i18n/index.ts';
import { useStore } from '../lib/store.ts';
import { Ago, Card, Loading } from '../operate/parts.tsx';
import { ContextBar, TypeKey } from './ContextBar.tsx';
import { contextOf, percent, tokens, treeOf, unknown, usd } from './figures.ts';
import { Empty, Head } from './parts.tsx';
import { usePalaceWords } from './words.ts';

/** Agents and their subagents: what fills the context of each, what it cost, and how much of it came from the cache. */
export function AgentsPage() {
  const shell = useWords();
  const words = usePalaceWords();
  const agents = useAgents();
  return (
    <>
      <Head title={words.agents} here="agents" lead={words.lead} />
      {agents.isError && (
        <div className="load-problem">
          <p role="alert" className="problem">
            {words.loadFailed} {sentence(agents.error)}
          </p>
          <button type="button" onClick={() => void agents.refetch()}>
            {shell.tryAgain}
          </button>
        </div>
      )}
      {agents.isPending && <Loading />}
      {agents.data?.length === 0 && <Empty />}
      {agents.data && agents.data.length > 0 && <Tree agents={agents.data} />}
      <TurnedOff />
    </>
  );
}

function Tree({ agents }: { agents: Agent[] }) {
  const words = usePalaceWords();
  const [shown, setShown] = useState(page);
  const nodes = treeOf(agents);
  return (
    <section className="panel agents" aria-label={words.agents}>
      <TypeKey />
      <div className="agent-row agent-names" aria-hidden="true">
        <span />
        <span>{words.context}</span>
        <span>{words.fromCache}</span>
        <span>{words.costs}</span>
        <span>{words.seen}</span>
      </div>
      <ul>
        {nodes.slice(0, shown).map(({ agent, depth }) => (
          <Row key={agent.id} agent={agent} depth={depth} />
        ))}
      </ul>
      {nodes.length > shown && (
        <button type="button" className="quiet" onClick={() => setShown(shown + page)}>
          {words.more}
        </button>
      )}
    </section>
  );
}

const page = 100; // agents shown at once

function Row({ agent, depth }: { agent: Agent; depth: number }) {
  const words = usePalaceWords();
  const locale = useStore(language);
  const busy = useBusy(agent.seen_at);
  const parts = contextOf(agent);
  const whole = parts.reduce((sum, part) => sum + part.tokens, 0);
  const name = depth > 0 || agent.kind === 'subagent' ? words.subagent(agent.agent_id) : words.agent(agent.agent_id);
  const facts = [agent.project, agent.lineage?.model, words.requests(agent.exchanges), agent.lineages > 1 ? words.histories(agent.lineages) : ''].filter(Boolean);
  return (
    <li className="agent-row" data-busy={busy || undefined} style={{ '--depth': depth } as CSSProperties}>
      <div className="agent-name">
        <span className="dot" aria-hidden="true" />
        <div>
          <p>
            <Link href={`/operate/palace/agents/${agent.agent_id}`}>{name}</Link> {agent.name && <small>{agent.name}</small>}
          </p>
          <p className="facts-line">
            {facts.map((one) => (
              <span key={one}>{one}</span>
            ))}
          </p>
        </div>
      </div>
      <div className="agent-context">
        <ContextBar parts={parts} />
        <b aria-hidden="true">{whole > 0 ? tokens(whole, locale) : unknown}</b>
      </div>
      <p className="agent-figure">
        <span>{words.fromCache} </span>
        {percent(agent.cache_share, locale)}
      </p>
      <p className="agent-figure">
        <span>{words.costs} </span>
        {usd(agent.usd, locale)}
      </p>
      <p className="agent-figure">
        <span>{words.seen} </span>
        <Ago time={agent.seen_at} />
      </p>
    </li>
  );
}

const quiet = 60_000; // ms after which an agent is not taken to be at work

/** Whether something passed a moment ago. */
function useBusy(seen: string): boolean {
  const left = Date.parse(seen) + quiet - Date.now();
  const [, tick] = useState(0);
  useEffect(() => {
    if (left <= 0) return;
    const timer = setTimeout(() => tick((n) => n + 1), left);
    return () => clearTimeout(timer);
  }, [left]);
  return left > 0;
}

/** What the client does without, because of a proxy, and what brings it back. */
function TurnedOff() {
  const words = usePalaceWords();
  return (
    <Card title={words.turnedOff} className="turned-off">
      <p className="hint">{words.turnedOffLead}</p>
      <dl>
        {words.turnedOffList.map(([what, then]) => (
          <div key={what}>
            <dt>{what}</dt>
            <dd>{then}</dd>
          </div>
        ))}
      </dl>
    </Card>
  );
}
