import { useEffect, useMemo, useRef, useState } from 'react';
import type { Change, Operation } from '../api/changes.ts';
import { Json } from '../code/Json.tsx';
import { Diff } from '../diff/Diff.tsx';
import { useWords } from '../i18n/index.ts';
import { Picture } from '../picture/Picture.tsx';
import { itemsOf, lineAt, linesOf, touched } from './graph.ts';
import { Card, Pills } from './parts.tsx';

type View = 'json' | 'workflow' | 'operations' | 'document';

/** A place in the document of one of the changes, to be shown; n tells one wish from the next. */
export interface Place {
  change: number;
  pointer: string;
  n: number;
}

/** What a patch changes: as a difference, as a picture, or as its operations. */
export function Changes({ changes, place }: { changes: Change[]; place: Place | null }) {
  const words = useWords();
  const [at, setAt] = useState(0);
  const [view, setView] = useState<View>('json');
  useEffect(() => {
    if (!place) return;
    setAt(Math.min(place.change, changes.length - 1));
    setView('document');
    // Only a new wish moves the view.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [place]);
  const change = changes[at] ?? changes[0];
  if (!change) return null;
  const views: [View, string][] = [['json', words.viewJson]];
  if ((change.kind || change.type) === 'workflow.chat') views.push(['workflow', words.viewWorkflow]);
  views.push(['operations', words.viewOperations]);
  if (place) views.push(['document', words.viewDocument]);
  const shown = views.some(([one]) => one === view) ? view : 'json';
  return (
    <Card title={words.changes} className="changes" extra={<Pills<View> label={words.viewOfChanges} options={views} value={shown} onChoose={setView} />}>
      {changes.length > 1 && <ChangeList changes={changes} at={at} onChoose={setAt} />}
      <Shown change={change} view={shown} place={place} />
    </Card>
  );
}

function ChangeList({ changes, at, onChoose }: { changes: Change[]; at: number; onChoose(at: number): void }) {
  const words = useWords();
  return (
    <ul className="change-list" aria-label={words.changesOfSet}>
      {changes.map((change, index) => (
        <li key={change.artifact_id}>
          <button type="button" aria-pressed={index === at} onClick={() => onChoose(index)}>
            <b>{change.name}</b> <Versions change={change} />
          </button>
        </li>
      ))}
    </ul>
  );
}

/** From which version to which; a new artifact comes from none. */
export function Versions({ change }: { change: Pick<Change, 'applied_version' | 'base_version' | 'creates'> }) {
  const words = useWords();
  const after = change.applied_version || change.base_version + 1;
  return (
    <span className="versions">
      {change.creates ? words.newArtifact : `v${change.base_version} → v${after}`}
    </span>
  );
}

function Shown({ change, view, place }: { change: Change; view: View; place: Place | null }) {
  const words = useWords();
  if (view === 'operations') return <Operations before={change.before} operations={change.patch ?? []} />;
  if (view === 'document') return <Document value={change.after ?? change.before} pointer={place?.pointer ?? ''} mark={place?.n ?? 0} />;
  if (change.after === null || change.after === undefined) {
    return (
      <>
        <p className="problem">{words.doesNotApply}</p>
        <Operations before={change.before} operations={change.patch ?? []} />
      </>
    );
  }
  if (view === 'workflow') return <Drawn change={change} />;
  return <Diff before={change.creates ? undefined : change.before} after={change.after} />;
}

function Drawn({ change }: { change: Change }) {
  const words = useWords();
  const { changed, removed } = useMemo(() => touched(change.before, change.after), [change.before, change.after]);
  return (
    <>
      <Picture doc={change.after} touched={changed} />
      <p className="hint">
        {changed.size > 0 && words.touchedNodes} {removed.length > 0 && words.removedNodes(removed.join(', '))}
      </p>
    </>
  );
}

function Operations({ before, operations }: { before: unknown; operations: Operation[] }) {
  const items = useMemo(() => itemsOf(before, operations), [before, operations]);
  return (
    <ol className="operations">
      {operations.map((one, index) => (
        // Operations are told apart by their place alone.
        // oxlint-disable-next-line react/no-array-index-key
        <li key={index} data-op={one.op}>
          <p>
            <b>{one.op}</b> <code>{one.from ? `${one.from} → ${one.path}` : one.path}</code> {items[index]}
          </p>
          {one.value !== undefined && <Json value={one.value} />}
        </li>
      ))}
    </ol>
  );
}

/** The whole document, with the line a problem is about marked and in view. */
function Document({ value, pointer, mark }: { value: unknown; pointer: string; mark: number }) {
  const words = useWords();
  const lines = useMemo(() => linesOf(value), [value]);
  const at = lineAt(lines, pointer);
  const box = useRef<HTMLPreElement>(null);
  const line = useRef<HTMLElement>(null);
  useEffect(() => {
    const [frame, marked] = [box.current, line.current];
    if (!frame || !marked) return;
    frame.scrollTop = marked.offsetTop - frame.offsetTop - frame.clientHeight / 3;
    frame.focus({ preventScroll: true });
    frame.scrollIntoView({ block: 'nearest' });
  }, [at, mark]);
  return (
    <pre ref={box} className="located" tabIndex={0} role="region" aria-label={words.viewDocument}>
      {lines.map((one, index) =>
        index === at ? (
          <mark key={index} ref={line}>
            {one.text}
            {'\n'}
          </mark>
        ) : (
          `${one.text}\n`
        ),
      )}
    </pre>
  );
}
