import { useState } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import { useArtifacts, type Artifact, type Visibility } from '../api/artifacts.ts';
import { sentence } from '../i18n/errors.ts';
import { language, useWords } from '../i18n/index.ts';
import { useTold } from '../i18n/said.ts';
import { useStore } from '../lib/store.ts';
import { Ago, Loading } from '../operate/parts.tsx';
import { Icon } from '../shell/Icon.tsx';
import { Badge, TypeBadge, type BadgeKind } from '../ui/Badge.tsx';
import { columns, sorted, turned, usual, type Column, type Order } from './table.ts';

const types = ['workflow', 'policy', 'adapter', 'tool', 'memory', 'context'] as const;
const visibilities = ['private', 'shared', 'global'] as const;
const rows = 25; // on one page

/** All artifacts a person may use (UI-11). What is chosen stands in the address. */
export function ArtifactList() {
  const words = useWords();
  const chosen = new URLSearchParams(useSearch());
  const [, go] = useLocation();
  const [find, setFind] = useState('');
  const type = chosen.get('type') ?? '';
  const visibility = visibilities.find((one) => one === chosen.get('visibility')) ?? '';
  const set = (name: string, value: string) => {
    const next = new URLSearchParams(chosen);
    if (value) next.set(name, value);
    else next.delete(name);
    const query = next.toString();
    go(query ? `/artifacts?${query}` : '/artifacts', { replace: true });
  };
  return (
    <>
      <header className="page-head">
        <div>
          <h1>{words.artifacts}</h1>
          <p className="lead">{words.artifactsLead}</p>
        </div>
        <Link href="/artifacts/new" className="button">
          <Icon name="plus" />
          {words.artifactNew}
        </Link>
      </header>
      <div className="choices">
        <Choice label={words.filterType} all={words.everything} options={types} value={type} onChoose={(one) => set('type', one)} />
        <Choice label={words.filterVisibility} all={words.everything} options={visibilities} value={visibility} onChoose={(one) => set('visibility', one)} />
        <label className="find">
          <span>{words.filterName}</span>
          <input type="search" value={find} onChange={(event) => setFind(event.target.value)} />
        </label>
      </div>
      <Found key={`${type} ${visibility}`} type={type} visibility={visibility} find={find.trim().toLowerCase()} />
    </>
  );
}

interface ChoiceProps {
  label: string;
  all: string;
  options: readonly BadgeKind[];
  value: string;
  onChoose(value: string): void;
}

function Choice({ label, all, options, value, onChoose }: ChoiceProps) {
  const words = useWords();
  return (
    <label>
      <span>{label}</span>
      <select value={value} onChange={(event) => onChoose(event.target.value)}>
        <option value="">{all}</option>
        {options.map((one) => (
          <option key={one} value={one}>
            {words.badge(one)}
          </option>
        ))}
      </select>
    </label>
  );
}

function Found({ type, visibility, find }: { type: string; visibility: Visibility | ''; find: string }) {
  const words = useWords();
  const locale = useStore(language);
  const query = useArtifacts({ type, visibility });
  const told = useTold();
  const [order, setOrder] = useState<Order>(usual);
  const [page, setPage] = useState(0);
  if (query.isPending) return <Loading />;
  const trouble = query.isError && (
    <p role="alert" className="problem">
      {words.artifactsLoadFailed} {sentence(query.error)}
    </p>
  );
  if (!query.data) return trouble;
  const fitting = sorted(
    query.data.filter((one) => `${one.name} ${told(one.description)}`.toLowerCase().includes(find)),
    order,
    locale,
  );
  const pages = Math.max(1, Math.ceil(fitting.length / rows));
  const at = Math.min(page, pages - 1);
  if (fitting.length === 0) return <p className="hint">{words.noArtifacts}</p>;
  return (
    <>
      {trouble}
      <Table list={fitting.slice(at * rows, (at + 1) * rows)} order={order} onOrder={setOrder} />
      <footer className="pages">
        <span className="hint">{words.artifactCount(fitting.length)}</span>
        {pages > 1 && (
          <>
            <button type="button" className="icon-button" aria-label={words.pagePrevious} disabled={at === 0} onClick={() => setPage(at - 1)}>
              <Icon name="left" />
            </button>
            <span>{words.pagePart(at + 1, pages)}</span>
            <button type="button" className="icon-button" aria-label={words.pageNext} disabled={at === pages - 1} onClick={() => setPage(at + 1)}>
              <Icon name="right" />
            </button>
          </>
        )}
      </footer>
    </>
  );
}

function Table({ list, order, onOrder }: { list: Artifact[]; order: Order; onOrder(order: Order): void }) {
  const words = useWords();
  const names: Record<Column, string> = {
    type: words.columnType,
    name: words.columnName,
    visibility: words.columnVisibility,
    version: words.columnVersion,
    updated: words.columnUpdated,
  };
  return (
    <table className="table list">
      <thead>
        <tr>
          {columns.map((one) => (
            <th key={one} scope="col" className={one} aria-sort={order.by === one ? (order.down ? 'descending' : 'ascending') : 'none'}>
              <button type="button" className="quiet" onClick={() => onOrder(turned(order, one))}>
                {names[one]}
                <span aria-hidden="true">{order.by === one ? (order.down ? '↓' : '↑') : ''}</span>
              </button>
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {list.map((one) => (
          <Row key={one.id} artifact={one} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ artifact }: { artifact: Artifact }) {
  const words = useWords();
  const told = useTold();
  return (
    <tr>
      <td className="type">
        <TypeBadge type={artifact.type} />
      </td>
      <th scope="row" className="name">
        <Link href={`/artifacts/${artifact.id}`}>{artifact.name}</Link>
        {artifact.description && <small>{told(artifact.description)}</small>}
      </th>
      <td className="visibility">
        <Badge kind={artifact.visibility} />
        {artifact.status === 'draft' && <Badge kind="draft" />}
      </td>
      <td className="version">
        {words.versionName(artifact.version)}
        {artifact.rollout && <small> {words.share(artifact.rollout.share)}</small>}
      </td>
      <td className="updated">
        <Ago time={artifact.updated_at} />
      </td>
    </tr>
  );
}
