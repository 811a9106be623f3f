import { useQuery } from '@tanstack/react-query';
import { Link, useRoute } from 'wouter';
import { ask } from '../api/ask.ts';
import type { DataEntity, DataSource } from '../api/gen.ts';
import { sentence } from '../i18n/errors.ts';
import { language, useWords } from '../i18n/index.ts';
import { useStore } from '../lib/store.ts';
import '../styles/pages.ts';
import './RecordPage.css';
import { inLanguage, isMissing, isPage, pageOf, partsOf, type Part, type Row } from './shown.ts';

/** A record of a source, or the list of its kind: what its tool gives, told as an answer tells it. */
export default function RecordPage() {
  const words = useWords();
  const locale = useStore(language);
  const [, one] = useRoute('/r/:source/:entity/:id');
  const [, many] = useRoute('/r/:source/:entity');
  const at = one ?? many;
  const sources = useQuery({ queryKey: ['sources'], queryFn: ({ signal }) => ask('sources', { signal }), staleTime: 60_000 });
  const source = sources.data?.data.find((each) => each.name === decoded(at?.source));
  const entity = source?.entities.find((each) => each.name === decoded(at?.entity));
  if (sources.isError) return <Note text={sentence(sources.error)} />;
  if (!sources.data) return <Note text={words.factsLoading} />;
  if (!source || !entity) return <Note text={words.recordMissing} />;
  const id = one ? decoded(one.id) : null;
  const name = inLanguage(entity.title, locale) || entity.name;
  return (
    <div className="pages-body record">
      <header className="page-head">
        <div>
          <p className="lead">
            {id !== null && entity.list ? <Link href={`/r/${at!.source}/${at!.entity}`}>{name}</Link> : name} · {source.title}
          </p>
        </div>
      </header>
      <Told key={`${entity.name}/${id ?? ''}`} source={source} entity={entity} id={id} />
    </div>
  );
}

function Told({ source, entity, id }: { source: DataSource; entity: DataEntity; id: string | null }) {
  const words = useWords();
  const locale = useStore(language);
  const tool = id === null ? entity.list : entity.detail;
  const result = useQuery({
    queryKey: ['record', source.name, entity.name, id],
    queryFn: ({ signal }) => ask('runTool', { body: { tool_id: tool!, input: id === null ? {} : { [entity.input ?? 'id']: id } }, signal }),
    enabled: Boolean(tool),
    staleTime: 30_000,
  });
  if (!tool) return <Note text={words.recordMissing} />;
  if (result.isError) return <Note text={sentence(result.error)} />;
  if (!result.data) return <Note text={words.factsLoading} />;
  const output = result.data.output;
  if (isMissing(output)) return <Note text={words.recordMissing} />;
  const parts = partsOf(output, id === null ? entity.list_shows : entity.detail_shows, locale);
  if (id !== null && parts.every((part) => part.rows.length === 0)) return <Note text={words.recordMissing} />;
  return (
    <>
      {parts.map((part, index) => (
        <Records key={part.key} part={part} source={source} own={index === 0 && id !== null} />
      ))}
      <p className="hint">{words.recordQuoted}</p>
    </>
  );
}

/** The first part of a record's page is the record itself: its heading. */
function Records({ part, source, own }: { part: Part; source: DataSource; own: boolean }) {
  const words = useWords();
  if (own && part.rows.length === 1)
    return (
      <>
        <h1>{part.rows[0]!.title}</h1>
        <p>{part.rows[0]!.line}</p>
      </>
    );
  if (part.rows.length === 0 && !part.heading && !part.empty) return null;
  return (
    <section>
      {part.heading && <h2>{part.heading}</h2>}
      {part.rows.length === 0 ? <p className="nothing">{part.empty || words.recordNone}</p> : <ul className="record-rows">{part.rows.map((row, index) => <li key={`${row.id}.${index}`}><RowLink row={row} source={source} /></li>)}</ul>}
    </section>
  );
}

function RowLink({ row, source }: { row: Row; source: DataSource }) {
  const entity = source.entities.find((each) => each.name === row.entity);
  if (!entity || !row.id) return <>{row.line}</>;
  const href = pageOf(source.name, entity, row.id);
  if (!isPage(href)) return <>{row.line}</>;
  return href.startsWith('/') ? <Link href={href}>{row.line}</Link> : <a href={href} target="_blank" rel="noopener noreferrer">{row.line}</a>;
}

function Note({ text }: { text: string }) {
  return <p className="nothing">{text}</p>;
}

function decoded(part: string | undefined): string {
  try {
    return decodeURIComponent(part ?? '');
  } catch {
    return part ?? '';
  }
}
