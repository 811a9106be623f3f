import { useState } from 'react';
import { Link } from 'wouter';
import { Failure } from '../api/failure.ts';
import { useBlock, useEvents, useView, type Content } from '../api/palace.ts';
import { sentence } from '../i18n/errors.ts';
import { language } from '../i18n/index.ts';
import { count, fileSize } from '../lib/format.ts';
import { useStore } from '../lib/store.ts';
import { when } from '../operate/figures.ts';
import { Card, Loading, Pills, Trouble } from '../operate/parts.tsx';
import { CopyButton } from '../shell/CopyButton.tsx';
import { Acts } from './Acts.tsx';
import { Frames, Raw } from './Bytes.tsx';
import { nameOf, typeOf } from './figures.ts';
import { Trail, useTitle } from './parts.tsx';
import { Rendered } from './Rendered.tsx';
import { usePalaceWords } from './words.ts';

/** One block: what it says, as it came and as one reads it, where it stands, and what is to become of it. */
export function BlockPage({ id }: { id: string }) {
  const words = usePalaceWords();
  const block = useBlock(id);
  if (block.data) return <Shown block={block.data} />;
  if (block.isPending) return <Loading />;
  const gone = block.error instanceof Failure && (block.error.status === 404 || block.error.status === 400);
  const erased = block.error instanceof Failure && block.error.detail('reason') === 'erased';
  return <Trouble text={erased ? words.blockErased : gone ? words.blockNotFound : `${words.loadFailed} ${sentence(block.error)}`} {...(gone ? {} : { retry: () => void block.refetch() })} back="/operate/palace" backText={words.back} />;
}

function Shown({ block }: { block: Content }) {
  const words = usePalaceWords();
  const name = words.block(nameOf(block));
  useTitle(name);
  const type = typeOf(block.block_type);
  const at = block.places[0];
  const trail: [string, string][] = [['/operate/palace', words.agents]];
  if (at) trail.push([`/operate/palace/agents/${at.agent_id}?lineage=${at.lineage}`, words.agent(at.agent_id)]);
  return (
    <article className="block">
      <header className="palace-head">
        <Trail steps={trail} />
        <h1>
          {name}
          {block.starred && (
            <span className="starred" title={words.starred}>
              {' '}
              ★<span className="hidden">{words.starred}</span>
            </span>
          )}
        </h1>
        <p className="byline">
          <span className="type-word" data-type={type}>
            {words.type[type]}
          </span>
          {block.tool && <code>{block.tool}</code>}
          <span>{words.tier[block.retention_tier] ?? block.retention_tier}</span>
          {!block.active && <span>{words.awayMark}</span>}
        </p>
      </header>
      <div className="block-body">
        <Says block={block} />
        <div className="block-side">
          <Acts block={block} />
          <Facts block={block} />
          <Places block={block} />
          <Past block={block} />
        </div>
      </div>
    </article>
  );
}

type Shape = 'rendered' | 'raw' | 'frames';

function Says({ block }: { block: Content }) {
  const words = usePalaceWords();
  const [shape, setShape] = useState<Shape>('rendered');
  const shapes: (readonly [Shape, string])[] = [
    ['rendered', words.rendered],
    ['raw', words.raw],
  ];
  if (block.form === 'sse') shapes.push(['frames', words.frames]);
  return (
    <Card title={words.says} className="says" extra={<Pills label={words.shape} options={shapes} value={shape} onChoose={(one: Shape) => setShape(one)} />}>
      {shape === 'rendered' && <Rendered content={block.content} />}
      {shape === 'raw' && <Raw id={block.uuid} />}
      {shape === 'frames' && <Frames id={block.uuid} came={block.frames_after_us ?? []} />}
    </Card>
  );
}

function Facts({ block }: { block: Content }) {
  const words = usePalaceWords();
  const locale = useStore(language);
  const facts: [string, string][] = [
    [words.fact.tokens, count(block.tokens, locale)],
    [words.fact.size, fileSize(block.size, locale)],
    [words.fact.role, block.role],
    [words.fact.form, words.form[block.form] ?? block.form],
    [words.fact.scope, words.scope[block.scope] ?? block.scope],
    [words.fact.project, block.project],
    [words.fact.channels, block.channels.join(', ')],
  ];
  return (
    <Card title={words.facts}>
      <dl className="facts">
        {facts
          .filter(([, value]) => value !== '')
          .map(([fact, value]) => (
            <div key={fact}>
              <dt>{fact}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        <div>
          <dt>{words.fact.uuid}</dt>
          <dd>
            <code>{block.uuid}</code> <CopyButton text={block.uuid} label={words.copyUUID} icon />
          </dd>
        </div>
      </dl>
    </Card>
  );
}

/** The histories a block stands in: what a client sends again is the block it was. */
function Places({ block }: { block: Content }) {
  const words = usePalaceWords();
  const locale = useStore(language);
  return (
    <Card title={words.places} note={block.places.length || undefined}>
      {block.places.length === 0 && <p className="hint">{words.placesNone}</p>}
      <ul className="places">
        {block.places.map((one) => (
          <li key={one.lineage}>
            <Link href={`/operate/palace/agents/${one.agent_id}?lineage=${one.lineage}`}>{words.agent(one.agent_id)}</Link>
            <small>{words.place(count(one.position + 1, locale), count(one.blocks, locale))}</small>
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** What became of a block, the first thing first. */
function Past({ block }: { block: Content }) {
  const words = usePalaceWords();
  const locale = useStore(language);
  const events = useEvents(block.uuid);
  const view = useView(block.places[0]?.lineage);
  const name = nameOf(block);
  const aside = view.data?.epochs.find((one) => (one.replace ?? []).some((each) => each.block === name));
  return (
    <Card title={words.past}>
      <ol className="stops">
        <li>
          {block.form === 'sse' ? words.pastFirstAnswer : words.pastFirst}
          <small>{when(block.created_at, locale)}</small>
          <small>
            <Link href={`/operate/palace/exchanges/${block.exchange}`}>{words.toRequest}</Link>
          </small>
        </li>
        {block.generation > 0 && <li>{words.pastGeneration(block.generation)}</li>}
        {events.data?.toReversed().map((one) => (
          <li key={one.id}>
            {words.event[one.what] ?? one.what}
            <small>
              {when(one.at, locale)} · {words.who[one.who] ?? one.who}
            </small>
            {one.why && <small>{one.why}</small>}
          </li>
        ))}
        <li>
          {words.pastTier[block.tier_by] ?? block.tier_by}
          <small>{words.tier[block.retention_tier] ?? block.retention_tier}</small>
        </li>
        {aside && (
          <li>
            {words.pastAside(aside.number)}
            <small>{when(aside.opened_at, locale)}</small>
          </li>
        )}
        {block.deleted_at && (
          <li>
            {words.pastAway}
            <small>{when(block.deleted_at, locale)}</small>
          </li>
        )}
      </ol>
    </Card>
  );
}
