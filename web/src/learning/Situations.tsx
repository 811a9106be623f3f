import { useClusters, type Cluster } from '../api/learning.ts';
import { sentence } from '../i18n/errors.ts';
import { useWords } from '../i18n/index.ts';
import { Card, Loading } from '../operate/parts.tsx';
import { SituationRow } from './SituationRow.tsx';
import { useLearningWords } from './words.ts';

/** What a person's questions come back to. */
export function Situations({ say }: { say(text: string): void }) {
  const shell = useWords();
  const words = useLearningWords();
  const mine = useClusters('mine');
  return (
    <Card title={words.situations} note={mine.data?.length || undefined} className="situations">
      <p className="hint">{words.situationsLead}</p>
      {mine.isError && (
        <div className="load-problem">
          <p role="alert" className="problem">
            {words.situationsFailed} {sentence(mine.error)}
          </p>
          <button type="button" onClick={() => void mine.refetch()}>
            {shell.tryAgain}
          </button>
        </div>
      )}
      {mine.isPending && <Loading />}
      {mine.data?.length === 0 && <p className="nothing">{words.situationsNone}</p>}
      {mine.data && mine.data.length > 0 && (
        <ul className="situation-list" aria-label={words.situations}>
          {mine.data.map((one) => (
            <SituationRow key={one.id} cluster={one} others={mine.data.filter((other) => other.id !== one.id)} say={say} />
          ))}
        </ul>
      )}
      <Everybody />
    </Card>
  );
}

/** Situations of everybody, where there are any: to read. */
function Everybody() {
  const words = useLearningWords();
  const all: Cluster[] = useClusters('global').data ?? [];
  if (all.length === 0) return null;
  return (
    <details className="opens">
      <summary>{words.everybody}</summary>
      <p className="hint">{words.everybodyMeans}</p>
      <ul className="situation-list" aria-label={words.everybody}>
        {all.map((one) => (
          <li key={one.id}>
            <p className="situation-name">{one.label || words.unnamed}</p>
            {one.description && <p>{one.description}</p>}
            <p className="facts-line">{words.size(one.size)}</p>
          </li>
        ))}
      </ul>
    </details>
  );
}
