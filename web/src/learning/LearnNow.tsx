import { useEffect, useRef, useState } from 'react';
import { Link } from 'wouter';
import { useAttempt } from '../account/useAttempt.ts';
import { Failure } from '../api/failure.ts';
import { learningKeys, learnNow, type Learning } from '../api/learning.ts';
import { queryClient } from '../api/queries.ts';
import { isOver, useOperatedRun, type OperatedRun } from '../api/runs.ts';
import { sentence } from '../i18n/errors.ts';
import { Ago } from '../operate/parts.tsx';
import { standsAt, stopsOf } from '../operate/trace.ts';
import { learns } from './standing.ts';
import { useLearningWords } from './words.ts';

/** How much waits to be read, and the way not to wait for it. */
export function LearnNow({ learning }: { learning: Learning }) {
  const words = useLearningWords();
  const attempt = useAttempt();
  const [begun, setBegun] = useState(''); // by this page, or found under way by it
  const [ended, setEnded] = useState<Ended | null>(null);
  const last = learning.last_run;
  const running = begun || (last && !isOver(last) && last.run_id !== ended?.run.id ? last.run_id : '');
  const before = useRef<Set<string>>(new Set()); // lessons that stood when it began

  const nothing = learning.waiting === 0 && !last && learning.lessons.length === 0;
  const busy = running !== '' || attempt.busy;

  function begin() {
    if (busy) return;
    before.current = new Set(learning.lessons.map((one) => one.id));
    setEnded(null);
    void attempt.go(async () => setBegun(await started()));
  }

  async function over(run: OperatedRun) {
    await queryClient.invalidateQueries({ queryKey: learningKeys.all });
    const lessons = queryClient.getQueryData<Learning>(learningKeys.state)?.lessons ?? [];
    setEnded({ run, fresh: lessons.filter((one) => !before.current.has(one.id)).length });
    setBegun('');
  }

  return (
    <section className="panel learn-now" aria-label={words.learnNow}>
      <div className="learn-now-row">
        <div>
          <p>{nothing ? words.nothingSaid : words.waiting(learning.waiting)}</p>
          <p className="hint">
            {learning.waiting > 0 && learns(learning) && words.waitingWhen}
            {last && learning.waiting === 0 && (
              <>
                {words.lastRun} <Ago time={last.at} />
              </>
            )}
          </p>
        </div>
        <button type="button" className="primary" disabled={!learns(learning) || attempt.rest > 0} aria-disabled={busy} onClick={begin}>
          {words.learnNow}
        </button>
      </div>
      {attempt.problem && (
        <p role="alert" className="problem">
          {attempt.problem}
        </p>
      )}
      {running && <Progress key={running} id={running} onOver={over} />}
      <p role="status">{ended && <End {...ended} />}</p>
    </section>
  );
}

/** Begins a run, or finds the one that is under way. */
async function started(): Promise<string> {
  try {
    return (await learnNow()).run_id;
  } catch (error) {
    const other = error instanceof Failure && error.status === 409 ? error.detail('run_id') : '';
    if (other) return other;
    throw error;
  }
}

function Progress({ id, onOver }: { id: string; onOver(run: OperatedRun): Promise<void> }) {
  const words = useLearningWords();
  const { data: run, error } = useOperatedRun(id);
  const told = useRef(false);
  useEffect(() => {
    if (!run || !isOver(run) || told.current) return;
    told.current = true;
    void onOver(run);
  }, [run, onOver]);
  const stops = run ? stopsOf(run) : [];
  const at = stops[standsAt(stops)];
  return (
    <div className="learn-progress">
      <progress aria-label={words.learning} />
      <p className="hint">
        {at?.says ? words.learningStep(words.steps[at.node] ?? at.says) : words.learning} <Link href={`/operate/runs/${id}`}>{words.seeRun}</Link>
      </p>
      {error && (
        <p role="alert" className="problem">
          {sentence(error)}
        </p>
      )}
    </div>
  );
}

interface Ended {
  run: OperatedRun;
  fresh: number; // lessons that were not there before
}

function End({ run, fresh }: Ended) {
  const words = useLearningWords();
  const failed = run.status === 'failed';
  return (
    <>
      <span className={failed ? 'problem' : ''}>
        {failed ? `${words.learnFailed} ${run.error?.message ?? ''}` : run.status === 'cancelled' ? words.learnStopped : words.learntNew(fresh)}
      </span>{' '}
      <Link href={`/operate/runs/${run.id}`}>{words.seeRun}</Link>
    </>
  );
}
