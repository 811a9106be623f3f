import { useDeferredValue, useMemo, useRef, useState, type ReactNode } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import { Failure } from '../api/failure.ts';
import { useEpochs, useLineages, useTimeline, useView, type Epoch, type Lineage, type Timeline } from '../api/palace.ts';
import { sentence } from '../i18n/errors.ts';
import { language } from '../i18n/index.ts';
import { count } from '../lib/format.ts';
import { useStore } from '../lib/store.ts';
import { when } from '../operate/figures.ts';
import { Chooser } from '../operate/Listing.tsx';
import { Ago, Loading, Trouble } from '../operate/parts.tsx';
import { tokens, typeOf, types, type Type } from './figures.ts';
import { Force } from './Force.tsx';
import { HistoryNotes, useHistoryNotes } from './Notes.tsx';
import { useNoteWords } from './noteWords.ts';
import { Trail, useTitle } from './parts.tsx';
import { everything, rowsOf, type Filter } from './rows.ts';
import { Rows } from './Rows.tsx';
import { usePalaceWords } from './words.ts';

/** One history of an agent as a rail: its turns, their blocks by weight, and the epochs between them. */
export function TimelinePage({ number }: { number: string }) {
  const words = usePalaceWords();
  const chosen = new URLSearchParams(useSearch()).get('lineage') ?? '';
  const [seen, setSeen] = useState<string>();
  const timeline = useTimeline(number, chosen, seen);
  const lineages = useLineages(timeline.data?.agent.id);
  const grown = (chosen ? lineages.data?.find((one) => one.id === chosen) : lineages.data?.[0])?.seen_at;
  if (grown !== seen) setSeen(grown);
  const back = { back: '/operate/palace', backText: words.back };
  if (timeline.isError && !timeline.data) {
    const gone = timeline.error instanceof Failure && (timeline.error.status === 404 || timeline.error.status === 400);
    return <Trouble text={gone ? words.notFound : `${words.loadFailed} ${sentence(timeline.error)}`} {...(gone ? {} : { retry: () => void timeline.refetch() })} {...back} />;
  }
  if (!timeline.data) return <Loading />;
  return <Shown key={timeline.data.lineage.id} timeline={timeline.data} lineages={lineages.data ?? []} />;
}

function Shown({ timeline, lineages }: { timeline: Timeline; lineages: Lineage[] }) {
  const words = usePalaceWords();
  const locale = useStore(language);
  const { agent, lineage, blocks } = timeline;
  const name = agent.kind === 'subagent' ? words.subagent(agent.agent_id) : words.agent(agent.agent_id);
  useTitle(name);
  const view = useView(lineage.id || undefined);
  const epochs = useEpochs(lineage.id || undefined);
  const notes = useHistoryNotes(lineage.id);
  const noted = useNoteWords();
  const last = blocks.at(-1)?.exchange;
  const facts = [agent.name, agent.project, lineage.model, words.blocks(count(blocks.length, locale)), words.tokensOf(tokens(lineage.input_tokens + lineage.output_tokens, locale))].filter(Boolean);
  return (
    <article className="timeline">
      <header className="palace-head">
        <Trail steps={[['/operate/palace', words.agents]]} />
        <h1>{name}</h1>
        <p className="byline">
          <span>{facts.join(' · ')}</span>
          <span>
            {words.seen} <Ago time={agent.seen_at} />
          </span>
          {last && <Link href={`/operate/palace/exchanges/${last}`}>{words.requestOf}</Link>}
        </p>
      </header>
      <div className="timeline-body">
        <aside className="timeline-side">
          <Folding title={words.historiesTitle} note={String(lineages.length || 1)}>
            <Histories agent={agent.agent_id} lineages={lineages} shown={lineage.id} />
          </Folding>
          {notes.length > 0 && (
            <Folding title={noted.notes} note={String(notes.length)}>
              <HistoryNotes notes={notes} />
            </Folding>
          )}
          {view.data && (
            <Folding title={words.force}>
              <Force lineage={lineage.id} view={view.data} />
            </Folding>
          )}
        </aside>
        <Filtered timeline={timeline} epochs={epochs.data ?? none} />
      </div>
    </article>
  );
}

/** Open where there is room beside the rail. */
function Folding({ title, note, children }: { title: string; note?: string; children: ReactNode }) {
  const [open] = useState(() => window.matchMedia('(min-width: 960px)').matches);
  return (
    <details className="panel card folding" open={open}>
      <summary>
        <h2>
          {title} {note && <small>{note}</small>}
        </h2>
      </summary>
      {children}
    </details>
  );
}

/** The histories of an agent, the first one first: why each began, and what it shares with the one before. */
function Histories({ agent, lineages, shown }: { agent: number; lineages: Lineage[]; shown: string }) {
  const words = usePalaceWords();
  const locale = useStore(language);
  const [, go] = useLocation();
  return (
    <ol className="stops choosable">
      {lineages.toReversed().map((one, at) => (
        <li key={one.id}>
          <button
            type="button"
            aria-current={one.id === shown ? 'true' : undefined}
            onClick={() => go(at === lineages.length - 1 ? `/operate/palace/agents/${agent}` : `/operate/palace/agents/${agent}?lineage=${one.id}`, { replace: true })}
          >
            <span className="step-name">
              {words.history(at + 1)}, {words.why[one.why ?? ''] ?? one.why}
            </span>
            <small>
              {when(one.created_at, locale)} · {words.requests(one.exchanges)}
            </small>
            {one.fork > 0 && <small>{words.common(one.fork)}</small>}
          </button>
        </li>
      ))}
    </ol>
  );
}

const long = 30; // rows that do not fit into one window

const none: Epoch[] = [];

function Filtered({ timeline, epochs }: { timeline: Timeline; epochs: Epoch[] }) {
  const words = usePalaceWords();
  const { agent, lineage, blocks } = timeline;
  const [filter, setFilter] = useState<Filter>(everything);
  const late = useDeferredValue(filter);
  const toEnd = useRef<(() => void) | null>(null);
  const rows = useMemo(() => rowsOf(blocks, epochs, late), [blocks, epochs, late]);
  const present = useMemo(() => new Set(blocks.map((one) => typeOf(one.block_type))), [blocks]);
  return (
    <section className="timeline-main" aria-label={words.timeline}>
      <div className="filters timeline-tools">
        <label className="filter find">
          <span>{words.find}</span>
          <input type="search" value={filter.words} onChange={(event) => setFilter({ ...filter, words: event.target.value })} />
        </label>
        <Chooser
          label={words.typeOf}
          any={words.anyType}
          value={filter.type}
          options={types.filter((one) => present.has(one)).map((one): [Type, string] => [one, words.type[one]])}
          onChoose={(type) => setFilter({ ...filter, type })}
        />
        {rows.length > long && (
          <button type="button" onClick={() => toEnd.current?.()}>
            {words.toEnd}
          </button>
        )}
        {epochs.length > 0 && (
          <label className="tick">
            <input type="checkbox" checked={filter.aside} onChange={(event) => setFilter({ ...filter, aside: event.target.checked })} />
            <span>{words.onlyAside}</span>
          </label>
        )}
      </div>
      {rows.length > 0 ? (
        <Rows key={lineage.id} place={`${agent.agent_id}/${lineage.id}`} rows={rows} blocks={blocks} toEnd={toEnd} />
      ) : (
        <p className="nothing">{blocks.length === 0 ? words.noBlocks : words.nothingFound}</p>
      )}
    </section>
  );
}
