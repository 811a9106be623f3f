import { useId, useRef, useState } from 'react';
import { Link } from 'wouter';
import { useAttempt } from '../account/useAttempt.ts';
import { choose, compare, useComparison, type Comparison } from '../api/learning.ts';
import { sentence } from '../i18n/errors.ts';
import { Markdown } from '../markdown/Markdown.tsx';
import { Loading } from '../operate/parts.tsx';
import { useLearningWords } from './words.ts';

interface Props {
  adapter: string;
  run: string; // that was begun before; empty: none
  onClose(): void;
}

/** One question answered twice, and the choice between both answers before it is told which is which. */
export function Compare({ adapter, run: begun, onClose }: Props) {
  const words = useLearningWords();
  const id = useId();
  const attempt = useAttempt();
  const [run, setRun] = useState(begun);
  const key = useRef(crypto.randomUUID());

  /** The address names the comparison, so that it is found again. */
  function at(next: string) {
    const url = new URL(location.href);
    if (next) url.searchParams.set('compare', `${adapter}/${next}`);
    else url.searchParams.delete('compare');
    history.replaceState(history.state, '', url);
    setRun(next);
  }

  async function begin(question: string) {
    await attempt.go(async () => {
      const { run_id } = await compare(adapter, question, key.current);
      key.current = crypto.randomUUID();
      at(run_id);
    });
  }

  return (
    <section className="compare" aria-label={words.compare}>
      <p className="hint">{words.compareMeans}</p>
      {run ? (
        <Both key={run} adapter={adapter} run={run} />
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            void begin(String(new FormData(event.currentTarget).get('question')).trim());
          }}
        >
          <label className="field" htmlFor={id}>
            <span>{words.compareQuestion}</span>
            <textarea id={id} name="question" rows={2} required maxLength={4000} />
          </label>
          <button type="submit" className="primary" disabled={attempt.busy}>
            {words.compareAsk}
          </button>
        </form>
      )}
      {attempt.problem && (
        <p role="alert" className="problem">
          {attempt.problem}
        </p>
      )}
      <div className="flex-row">
        {run && (
          <button type="button" onClick={() => at('')}>
            {words.compareAnother}
          </button>
        )}
        <button
          type="button"
          className="quiet"
          onClick={() => {
            at('');
            onClose();
          }}
        >
          {words.compareClose}
        </button>
      </div>
    </section>
  );
}

const none: never[] = []; // an answer to a question alone has no sources
const nowhere = () => {};

type Which = 'first' | 'second';

function Both({ adapter, run }: { adapter: string; run: string }) {
  const words = useLearningWords();
  const attempt = useAttempt();
  const comparison = useComparison(adapter, run);
  const said = useRef<HTMLParagraphElement>(null);
  if (comparison.isError && !comparison.data) {
    return (
      <p role="alert" className="problem">
        {sentence(comparison.error)}
      </p>
    );
  }
  const c = comparison.data;
  if (!c) return <Loading />;
  const failed = c.status === 'failed' || c.status === 'cancelled';
  const open = c.choice === '' && c.first !== null && c.second !== null && !failed;

  async function pick(choice: Which | 'neither') {
    if (await attempt.go(() => choose(adapter, run, choice))) said.current?.focus();
  }

  return (
    <>
      <p className="compare-question">{c.question}</p>
      {failed && (
        <p role="alert" className="problem">
          {words.compareFailed} {c.problem}
        </p>
      )}
      {c.first === null && !failed && (
        <div className="learn-progress">
          <progress aria-label={words.comparing} />
          <p className="hint">
            {words.comparing} {words.compareStays}
          </p>
        </div>
      )}
      {c.first !== null && (
        <div className="compare-answers">
          <Answer which="first" text={c.first} comparison={c} open={open && !attempt.busy} onPick={pick} />
          {c.second === null ? !failed && <Loading /> : <Answer which="second" text={c.second} comparison={c} open={open && !attempt.busy} onPick={pick} />}
        </div>
      )}
      {open && (
        <button type="button" className="quiet" disabled={attempt.busy} onClick={() => void pick('neither')}>
          {words.neither}
        </button>
      )}
      {attempt.problem && (
        <p role="alert" className="problem">
          {attempt.problem}
        </p>
      )}
      <p ref={said} role="status" tabIndex={-1} className="compare-told">
        {c.told && words.compareTold(c.choice === 'neither' || c.choice === '' ? 'neither' : c.choice === c.told.with ? 'with' : 'without')}
      </p>
      {c.told && c.told.lessons.length > 0 && (
        <div>
          <p className="hint">{words.compareLessons}</p>
          <ul className="compare-lessons">
            {c.told.lessons.map((one) => (
              <li key={one.id}>{one.text}</li>
            ))}
          </ul>
        </div>
      )}
      {c.told && <Link href={`/c/${c.conversation_id}`}>{words.compareWhere}</Link>}
    </>
  );
}

interface AnswerProps {
  which: Which;
  text: string;
  comparison: Comparison;
  open: boolean;
  onPick(which: Which): Promise<void>;
}

function Answer({ which, text, comparison, open, onPick }: AnswerProps) {
  const words = useLearningWords();
  const id = useId();
  const { told, choice } = comparison;
  return (
    <section className="compare-answer" aria-labelledby={id} data-chosen={choice === which || undefined}>
      <h4 id={id}>
        {words.answer(which)}
        {told && <span className="compare-was">{told.with === which ? words.wasWith : words.wasWithout}</span>}
      </h4>
      <div className="compare-text">
        <Markdown text={text} citations={none} open={nowhere} />
      </div>
      {!told && (
        <button type="button" disabled={!open} aria-label={words.betterThis(which)} onClick={() => void onPick(which)}>
          {words.better}
        </button>
      )}
    </section>
  );
}
