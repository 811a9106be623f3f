import './adapters.css';
import { useState } from 'react';
import { Link } from 'wouter';
import { useAttempt } from '../account/useAttempt.ts';
import { changeKeys, rollBack } from '../api/changes.ts';
import { learningKeys, takeAlong, useAdapter, useAdapters, type Adapter, type AdapterVersion, type Learning } from '../api/learning.ts';
import { queryClient } from '../api/queries.ts';
import { sentence } from '../i18n/errors.ts';
import { useWords } from '../i18n/index.ts';
import { useTold } from '../i18n/said.ts';
import { Ago, Card, Loading } from '../operate/parts.tsx';
import { Compare } from './Compare.tsx';
import { OnTrial } from './OnTrial.tsx';
import { useSaid } from './remarks.ts';
import { learns } from './standing.ts';
import { useLearningWords } from './words.ts';

interface Props {
  learning: Learning;
  say(text: string): void;
}

/** What carries what was learnt: its versions, its trial, its weights. */
export function Adapters({ learning, say }: Props) {
  const shell = useWords();
  const words = useLearningWords();
  const adapters = useAdapters();
  return (
    <Card title={words.adapters} note={adapters.data?.length || undefined} className="adapters">
      <p className="hint">{words.adaptersLead}</p>
      {adapters.isError && (
        <div className="load-problem">
          <p role="alert" className="problem">
            {words.adaptersFailed} {sentence(adapters.error)}
          </p>
          <button type="button" onClick={() => void adapters.refetch()}>
            {shell.tryAgain}
          </button>
        </div>
      )}
      {adapters.isPending && <Loading />}
      {adapters.data?.length === 0 && <p className="nothing">{words.adaptersNone}</p>}
      {adapters.data && adapters.data.length > 0 && (
        <ul className="situation-list" aria-label={words.adapters}>
          {adapters.data.map((one) => (
            <Row key={one.id} adapter={one} learning={learning} say={say} />
          ))}
        </ul>
      )}
    </Card>
  );
}

function Row({ adapter, learning, say }: Props & { adapter: Adapter }) {
  const words = useLearningWords();
  const [opened, setOpened] = useState(false);
  const [comparing, setComparing] = useState(() => comparisonHere(adapter.id) !== '');
  const name = adapter.cluster_id ? words.inSituation(adapter.situation || words.unnamed) : words.allAnswers;
  return (
    <li className="situation adapter" data-status={adapter.status}>
      <p className="situation-name">{name}</p>
      <p className="facts-line">
        <span>{adapter.status === 'draft' && adapter.patch?.status === 'rolled_back' ? words.versionState('rolled_back') : words.adapterStatus(adapter.status)}</span>
        <span>{adapter.weights > 0 ? words.weightsOf(adapter.weights) : words.textOnly}</span>
        <span>{words.used(adapter.use.runs)}</span>
        {adapter.use.runs > 0 && <span>{words.score(adapter.use.score)}</span>}
      </p>
      {adapter.patch?.trial && learns(learning) && <OnTrial patch={adapter.patch.id} trial={adapter.patch.trial} say={say} />}
      <div className="lesson-below">
        <details className="opens" onToggle={(event) => setOpened(opened || event.currentTarget.open)}>
          <summary>{words.versions}</summary>
          {opened && <Versions id={adapter.id} name={name} />}
        </details>
        <div className="lesson-acts">
          {adapter.status === 'active' && learning.generative && learns(learning) && (
            <button type="button" className="quiet" aria-label={words.compareThis(name)} aria-expanded={comparing} onClick={() => setComparing(!comparing)}>
              {words.compare}
            </button>
          )}
          {adapter.patch?.may_roll_back && <Undo patch={adapter.patch.id} name={name} say={say} />}
        </div>
      </div>
      {comparing && <Compare adapter={adapter.id} run={comparisonHere(adapter.id)} onClose={() => setComparing(false)} />}
    </li>
  );
}

/** The comparison that the address names, of an adapter; empty: none of it. */
function comparisonHere(adapter: string): string {
  const [of, run] = (new URLSearchParams(location.search).get('compare') ?? '').split('/');
  return of === adapter ? (run ?? '') : '';
}

function Undo({ patch, name, say }: { patch: number; name: string; say(text: string): void }) {
  const words = useLearningWords();
  const attempt = useAttempt();
  async function undo() {
    const done = await attempt.go(async () => {
      await rollBack(patch, words.undoReason);
      await queryClient.invalidateQueries({ queryKey: learningKeys.all });
      void queryClient.invalidateQueries({ queryKey: changeKeys.all });
    });
    if (done) say(words.undone);
  }
  return (
    <>
      <button type="button" className="quiet bad" disabled={attempt.busy} aria-label={words.undoThis(name)} onClick={() => void undo()}>
        {words.undo}
      </button>
      {attempt.problem && (
        <p role="alert" className="problem">
          {attempt.problem}
        </p>
      )}
    </>
  );
}

function Versions({ id, name }: { id: string; name: string }) {
  const words = useLearningWords();
  const whole = useAdapter(id, true);
  if (whole.isError && !whole.data) {
    return (
      <p role="alert" className="problem">
        {sentence(whole.error)}
      </p>
    );
  }
  if (!whole.data) return <Loading />;
  return (
    <ol className="versions" aria-label={words.versionsOf(name)}>
      {whole.data.versions.map((one) => (
        <Version key={one.version} id={id} version={one} />
      ))}
    </ol>
  );
}

function Version({ id, version }: { id: string; version: AdapterVersion }) {
  const words = useLearningWords();
  const said = useSaid();
  const told = useTold();
  const attempt = useAttempt();
  return (
    <li data-state={version.state}>
      <p className="facts-line">
        <b>{words.version(version.version)}</b>
        <span className="version-state">{words.versionState(version.state)}</span>
        <span>
          <Ago time={version.at} />
        </span>
        <span>{words.lessonCount(version.lessons)}</span>
        {version.weights > 0 && <span title={version.base}>{words.weightsOf(version.weights)}</span>}
        {version.patch_id !== null && <Link href={`/operate/patches/${version.patch_id}`}>{words.details}</Link>}
        {version.peft && (
          <button
            type="button"
            className="quiet"
            disabled={attempt.busy}
            title={words.takeAlongMeans}
            aria-label={words.takeAlongThis(version.weights)}
            onClick={() => void attempt.go(() => takeAlong(id, version.weights))}
          >
            {words.takeAlong}
          </button>
        )}
      </p>
      {version.note && <p className="hint">{said(version.why, told(version.note, version.said))}</p>}
      {version.marked && ['current', 'trial', 'before'].includes(version.state) && <p>{words.versionMarked}</p>}
      {attempt.problem && (
        <p role="alert" className="problem">
          {attempt.problem}
        </p>
      )}
    </li>
  );
}
