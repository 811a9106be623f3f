import { useMemo, useState } from 'react';
import { Link, useLocation } from 'wouter';
import type { Artifact, Version } from '../api/artifacts.ts';
import { Diff } from '../diff/Diff.tsx';
import { useWords } from '../i18n/index.ts';
import { touched } from '../operate/graph.ts';
import { Card, Pills } from '../operate/parts.tsx';
import { drawable } from '../picture/read.ts';
import { Picture } from '../picture/Picture.tsx';

type View = 'lines' | 'picture';

interface Props {
  artifact: Artifact;
  versions: Version[];
  from: number;
  to: number;
}

/** Two versions side by side; which ones stands in the address. */
export function Compare({ artifact, versions, from, to }: Props) {
  const words = useWords();
  const [, go] = useLocation();
  const [view, setView] = useState<View>('lines');
  const before = versions.find((one) => one.version === from)?.schema;
  const after = versions.find((one) => one.version === to)?.schema;
  const choose = (base: number, other: number) => go(`/artifacts/${artifact.id}?base=${base}${other === artifact.version ? '' : `&to=${other}`}`, { replace: true });
  const views: [View, string][] = [
    ['lines', words.compareLines],
    ['picture', words.comparePicture],
  ];
  return (
    <Card
      title={words.compared(from, to)}
      className="compare"
      extra={
        drawable(after) && (
          <Pills
            label={words.compareView}
            options={views}
            value={view}
            onChoose={(one: View) => setView(one)}
          />
        )
      }
    >
      <div className="choices">
        <Choose label={words.compareFrom} versions={versions} value={from} onChoose={(n) => choose(n, to)} />
        <Choose label={words.compareTo} versions={versions} value={to} onChoose={(n) => choose(from, n)} />
        <Link href={`/artifacts/${artifact.id}`}>{words.compareClose}</Link>
      </div>
      {view === 'picture' && drawable(after) ? <Changed before={before} after={after} /> : <Diff before={before} after={after} />}
    </Card>
  );
}

function Choose({ label, versions, value, onChoose }: { label: string; versions: Version[]; value: number; onChoose(n: number): void }) {
  const words = useWords();
  return (
    <label>
      <span>{label}</span>
      <select value={value} onChange={(event) => onChoose(Number(event.target.value))}>
        {versions.map((one) => (
          <option key={one.version} value={one.version}>
            {words.versionName(one.version)}
          </option>
        ))}
      </select>
    </label>
  );
}

/** The graph as it is after a change, with what the change touches. */
export function Changed({ before, after, onPick }: { before: unknown; after: unknown; onPick?(id: string): void }) {
  const words = useWords();
  const { changed, removed } = useMemo(() => touched(before, after), [before, after]);
  return (
    <>
      <Picture doc={after} touched={changed} {...(onPick ? { onPick } : {})} />
      {removed.length > 0 && <p className="hint">{words.compareRemoved(removed.join(', '))}</p>}
    </>
  );
}
