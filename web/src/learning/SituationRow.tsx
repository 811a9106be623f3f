import { useRef, useState } from 'react';
import { useAttempt } from '../account/useAttempt.ts';
import { changeCluster, deleteCluster, mergeCluster, splitCluster, useClusterEvents, type Cluster } from '../api/learning.ts';
import { sentence } from '../i18n/errors.ts';
import { ActDialog, Loading } from '../operate/parts.tsx';
import { Events } from './Events.tsx';
import { useLearningWords } from './words.ts';

interface Props {
  cluster: Cluster;
  others: Cluster[]; // it could be merged with
  say(text: string): void;
}

/** One situation: its name, what it is made of, and what of it is wrong. */
export function SituationRow({ cluster, others, say }: Props) {
  const words = useLearningWords();
  const [act, setAct] = useState<'rename' | 'merge' | 'delete' | null>(null);
  const [opened, setOpened] = useState(false);
  const label = cluster.label || words.unnamed;
  return (
    <li className="situation">
      <p className="situation-name">{label}</p>
      {cluster.description && <p>{cluster.description}</p>}
      <p className="facts-line">{words.size(cluster.size)}</p>
      <div className="lesson-below">
        <details className="opens" onToggle={(event) => setOpened(opened || event.currentTarget.open)}>
          <summary>{words.what}</summary>
          {opened && <Content cluster={cluster} label={label} />}
        </details>
        <div className="lesson-acts">
          <button type="button" className="quiet" aria-label={words.renameOf(label)} onClick={() => setAct('rename')}>
            {words.rename}
          </button>
          {others.length > 0 && (
            <button type="button" className="quiet" aria-label={words.mergeOf(label)} onClick={() => setAct('merge')}>
              {words.merge}
            </button>
          )}
          <button type="button" className="quiet bad" aria-label={words.notOneOf(label)} onClick={() => setAct('delete')}>
            {words.notOne}
          </button>
        </div>
      </div>
      {act && <Act act={act} cluster={cluster} label={label} others={others} onClose={() => setAct(null)} say={say} />}
    </li>
  );
}

interface ActProps extends Props {
  act: 'rename' | 'merge' | 'delete';
  label: string;
  onClose(): void;
}

function Act({ act, cluster, label, others, onClose, say }: ActProps) {
  const words = useLearningWords();
  if (act === 'rename') {
    const work = async (form: FormData) => {
      await changeCluster(cluster.id, { label: String(form.get('label')).trim(), description: String(form.get('description')).trim() });
      onClose();
      say(words.renamed);
    };
    return (
      <ActDialog title={words.renameOf(label)} act={words.save} onClose={onClose} onAct={work}>
        <label className="field">
          <span>{words.name}</span>
          <input name="label" defaultValue={cluster.label} required maxLength={80} pattern=".*\S.*" />
        </label>
        <label className="field">
          <span>{words.sentence}</span>
          <input name="description" defaultValue={cluster.description} maxLength={300} />
        </label>
      </ActDialog>
    );
  }
  if (act === 'merge') {
    const work = async (form: FormData) => {
      await mergeCluster(cluster.id, String(form.get('into')));
      onClose();
      say(words.merged);
    };
    return (
      <ActDialog title={words.mergeOf(label)} act={words.merge} onClose={onClose} onAct={work}>
        <label className="field">
          <span>{words.mergeInto}</span>
          <select name="into">
            {others.map((one) => (
              <option key={one.id} value={one.id}>
                {one.label || words.unnamed}
              </option>
            ))}
          </select>
        </label>
        <p className="hint">{words.mergeMeans}</p>
      </ActDialog>
    );
  }
  const work = async () => {
    await deleteCluster(cluster.id);
    onClose();
    say(words.wentAway);
  };
  return (
    <ActDialog title={words.notOne} act={words.letGo} danger onClose={onClose} onAct={work}>
      <p>{words.notOneAsk(label)}</p>
    </ActDialog>
  );
}

/** What a situation is made of: what does not belong is picked, and goes. */
function Content({ cluster, label }: { cluster: Cluster; label: string }) {
  const words = useLearningWords();
  const attempt = useAttempt();
  const events = useClusterEvents(cluster.id, true);
  const [picked, setPicked] = useState<ReadonlySet<number>>(new Set());
  const [said, setSaid] = useState('');
  const button = useRef<HTMLButtonElement>(null);
  if (events.isError && !events.data) {
    return (
      <p role="alert" className="problem">
        {sentence(events.error)}
      </p>
    );
  }
  if (!events.data) return <Loading />;
  if (events.data.length === 0) return <p className="hint">{words.nothingIn}</p>;
  const chosen = events.data.filter((one) => picked.has(one.event_id)).map((one) => one.event_id);
  const all = chosen.length === events.data.length;

  function pick(id: number, on: boolean) {
    const next = new Set(picked);
    if (on) next.add(id);
    else next.delete(id);
    setPicked(next);
  }

  async function split() {
    if (!(await attempt.go(() => splitCluster(cluster.id, chosen)))) return;
    setPicked(new Set());
    setSaid(words.splitDone);
    button.current?.closest('details')?.querySelector('summary')?.focus(); // the button is of no use now
  }

  return (
    <>
      <Events events={events.data} label={words.whatOf(label)} picked={picked} onPick={pick} />
      <div className="flex-row">
        <button ref={button} type="button" disabled={attempt.busy || chosen.length === 0 || all} onClick={() => void split()}>
          {words.split(chosen.length)}
        </button>
        {all && <span className="hint">{words.splitAll}</span>}
      </div>
      <p role="status" className="situation-said">
        {said}
      </p>
      {attempt.problem && (
        <p role="alert" className="problem">
          {attempt.problem}
        </p>
      )}
    </>
  );
}
