import { isTrained, useEverybodysTrainings, type Training } from '../api/learning.ts';
import { sentence } from '../i18n/errors.ts';
import { language, useWords } from '../i18n/index.ts';
import { Curve } from '../learning/Curve.tsx';
import { useSaid } from '../learning/remarks.ts';
import { useTrainingWords } from '../learning/trainingWords.ts';
import { useStore } from '../lib/store.ts';
import { Ago, Card, Loading } from './parts.tsx';

/** What is trained for everybody, for administrators: what runs with its curve, what waits, and what the gate found of the latest. */
export default function TrainingPage() {
  const shell = useWords();
  const words = useTrainingWords();
  const all = useEverybodysTrainings();
  const list = all.data ?? [];
  const parts: [string, Training[]][] = [
    [words.runs, list.filter((one) => one.status === 'running')],
    [words.waitsHere, list.filter((one) => one.status === 'queued').toSorted((a, b) => (a.place?.ahead ?? 0) - (b.place?.ahead ?? 0))],
    [words.ended, list.filter((one) => !isTrained(one))],
  ];
  return (
    <>
      <header className="list-head">
        <h1>{words.trainings}</h1>
      </header>
      <p className="hint training-lead">{words.everybodys}</p>
      {all.isError && (
        <div className="load-problem">
          <p role="alert" className="problem">
            {words.failed} {sentence(all.error)}
          </p>
          <button type="button" onClick={() => void all.refetch()}>
            {shell.tryAgain}
          </button>
        </div>
      )}
      {all.isPending && <Loading />}
      {all.data && list.length === 0 && <p className="nothing">{words.nothing}</p>}
      {parts.map(
        ([title, some]) =>
          some.length > 0 && (
            <Card key={title} title={title} note={some.length}>
              <ul className="training-list" aria-label={title}>
                {some.map((one) => (
                  <Row key={one.id} training={one} />
                ))}
              </ul>
            </Card>
          ),
      )}
    </>
  );
}

function Row({ training }: { training: Training }) {
  const words = useTrainingWords();
  const locale = useStore(language);
  const said = useSaid();
  const { place, report, user } = training;
  const until = place?.until ? words.until(new Date(place.until).toLocaleTimeString(locale, { hour: '2-digit', minute: '2-digit' })) : '';
  const figure = (n: number) => n.toLocaleString(locale, { minimumFractionDigits: 2, maximumFractionDigits: 2 });
  return (
    <li className="training">
      <p className="training-name">{user?.name ?? user?.id}</p>
      <p className="facts-line">
        <span className="training-stage" data-stage={training.stage}>
          {words.stage(training.stage)}
        </span>
        <span>{words.kind(training.kind)}</span>
        {training.version > 0 && <span>{words.version(training.version)}</span>}
        {training.events > 0 && <span>{words.events(training.events)}</span>}
        <span>
          <Ago time={training.ended_at ?? training.started_at ?? training.created_at} />
        </span>
      </p>
      {place && <p className="hint">{words.waits(place.reason, until) || words.ahead(place.ahead)}</p>}
      {training.status === 'failed' && training.reason && <p className="problem">{said(training.why, training.reason)}</p>}
      {report && (
        <p>
          {words.gateOf(report, figure)} {report.kept && words.kept(report.kept)}
        </p>
      )}
      {training.status === 'running' && training.stage === 'fit' && <Curve training={training} />}
    </li>
  );
}
