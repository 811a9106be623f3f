import { useAttempt } from '../account/useAttempt.ts';
import { cancelTraining, isTrained, trainAdapter, useTrainings, type LearnedAdapter, type Training } from '../api/learning.ts';
import { sentence } from '../i18n/errors.ts';
import { language, useWords } from '../i18n/index.ts';
import { useStore } from '../lib/store.ts';
import { Ago, Card, Loading } from '../operate/parts.tsx';
import { Curve } from './Curve.tsx';
import { butFigures, useSaid } from './remarks.ts';
import { useTrainingWords } from './trainingWords.ts';

interface Props {
  adapters: readonly LearnedAdapter[];
  nameOf(adapter: LearnedAdapter | undefined): string;
  say(text: string): void;
}

/** What is trained for a person: what waits, what runs, and how each ended. */
export function Trainings({ adapters, nameOf, say }: Props) {
  const shell = useWords();
  const words = useTrainingWords();
  const trainings = useTrainings();
  const list = trainings.data ?? [];
  return (
    <Card title={words.trainings} note={list.length || undefined} className="trainings">
      <p className="hint">{words.lead}</p>
      {trainings.isError && (
        <div className="load-problem">
          <p role="alert" className="problem">
            {words.failed} {sentence(trainings.error)}
          </p>
          <button type="button" onClick={() => void trainings.refetch()}>
            {shell.tryAgain}
          </button>
        </div>
      )}
      {trainings.isPending && <Loading />}
      {trainings.data && list.length === 0 && <p className="nothing">{words.none}</p>}
      {list.length > 0 && (
        <ul className="training-list" aria-label={words.trainings}>
          {list.map((one, at) => (
            <Row key={one.id} training={one} latest={at === list.findIndex((other) => other.adapter_id === one.adapter_id)} name={nameOf(adapters.find((adapter) => adapter.id === one.adapter_id))} say={say} />
          ))}
        </ul>
      )}
    </Card>
  );
}

interface RowProps {
  training: Training;
  latest: boolean; // of its adapter
  name: string;
  say(text: string): void;
}

function Row({ training, latest, name, say }: RowProps) {
  const words = useTrainingWords();
  const locale = useStore(language);
  const attempt = useAttempt();
  const live = isTrained(training);
  const { place, report } = training;
  const told = report ? butFigures(training.why) : training.why;
  const reason = useSaid()(told, training.why.length > 0 ? '' : training.reason);
  const until = place?.until ? words.until(new Date(place.until).toLocaleTimeString(locale, { hour: '2-digit', minute: '2-digit' })) : '';
  return (
    <li className="training">
      <p className="training-name">{name}</p>
      <p className="facts-line">
        <span className="training-stage" data-stage={training.stage}>
          {words.stage(training.stage)}
        </span>
        {training.version > 0 && <span>{words.version(training.version)}</span>}
        {training.events > 0 && <span>{words.events(training.events)}</span>}
        <span>
          <Ago time={training.ended_at ?? training.started_at ?? training.created_at} />
        </span>
      </p>
      {place && <p className="hint">{words.waits(place.reason, until) || words.ahead(place.ahead)}</p>}
      {reason && <p className={training.stage === 'failed' ? 'problem' : undefined}>{reason}</p>}
      {report && (
        <p>
          {words.gate(report, `P ${report.p.toLocaleString(locale, { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`)} {report.kept && words.kept(report.kept)}
        </p>
      )}
      {training.status === 'running' && training.stage === 'fit' && <Curve training={training} />}
      {!live && latest && training.events > 0 && (
        <details className="opens">
          <summary>{words.curve}</summary>
          <Curve training={training} />
        </details>
      )}
      {attempt.problem && (
        <p role="alert" className="problem">
          {attempt.problem}
        </p>
      )}
      <div className="lesson-acts">
        {live && (
          <button
            type="button"
            className="quiet"
            aria-label={words.cancelOf(name)}
            disabled={attempt.busy}
            onClick={() =>
              void attempt.go(async () => {
                await cancelTraining(training.id);
                say(words.cancelled);
              })
            }
          >
            {words.cancel}
          </button>
        )}
        {!live && latest && (
          <button type="button" className="quiet" aria-label={words.trainOf(name)} disabled={attempt.busy} onClick={() => void attempt.go(async () => void (await trainAdapter(training.adapter_id)))}>
            {words.train}
          </button>
        )}
      </div>
    </li>
  );
}
