import './training.css';
import { isTrained, useTrainingMetrics, type Training, type TrainingStep } from '../api/learning.ts';
import { language } from '../i18n/index.ts';
import { count, duration } from '../lib/format.ts';
import { useStore } from '../lib/store.ts';
import { Lines } from '../plot/Lines.tsx';
import { useTrainingWords } from './trainingWords.ts';

/** The loss of a training, live while it runs. */
export function Curve({ training }: { training: Training }) {
  const words = useTrainingWords();
  const locale = useStore(language);
  const metrics = useTrainingMetrics(training.id, isTrained(training));
  const steps: readonly TrainingStep[] = metrics.data ?? [];
  const last = steps.at(-1);
  if (!last) return null;
  const write = (value: number) => value.toLocaleString(locale, { maximumFractionDigits: 2 });
  const dash = (value: number | null) => (value === null ? '–' : write(value));
  const imitated = steps.map((one) => (one.compared ? null : one.loss));
  const known = imitated.filter((value) => value !== null);
  return (
    <>
      {isTrained(training) && (
        <p role="status" className="hint">
          {words.progress(last.step, last.of, count(Math.round(last.tok_s), locale), duration(last.eta * 1000, locale))}
        </p>
      )}
      <Lines
        title={words.curve}
        summary={words.summary(dash(known[0] ?? null), dash(known.at(-1) ?? null))}
        series={[
          { name: words.loss, tone: 'main' },
          { name: words.heldOut, tone: 'faint' },
        ]}
        labels={steps.map((one) => String(one.step))}
        values={[imitated, steps.map((one) => one.held_out)]}
        write={write}
        table={{
          head: [words.step, words.loss, words.compared, words.heldOut],
          rows: steps.map((one) => [String(one.step), one.compared ? '–' : write(one.loss), one.compared ? write(one.loss) : '–', dash(one.held_out)]),
        }}
      />
    </>
  );
}
