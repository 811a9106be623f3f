import { useContext } from 'react';
import { useWords } from '../i18n/index.ts';
import { language } from '../i18n/index.ts';
import { useTold } from '../i18n/said.ts';
import { SurfaceContext } from '../knowledge/surface.ts';
import { duration } from '../lib/format.ts';
import { useStore } from '../lib/store.ts';
import { usePace } from './pace.ts';
import { saidBy, type Evidence, type Step } from './run.ts';

interface StepsProps {
  steps: Step[];
  over: boolean; // the answer has begun, the run waits for a person, or it has ended
}

/** The steps as one line of dots, the current one in words while it lasts. It keeps its height from first to last. */
export function StepsLine({ steps, over }: StepsProps) {
  const words = useWords();
  const told = useTold();
  const shown = usePace(steps.length, over);
  const current = steps[shown];
  // A workflow's own line stands wherever no step says more, and goes with the first of the answer.
  const thinking = useContext(SurfaceContext)?.thinking;
  const waiting = over ? '' : thinking || words.starting;
  const label = current && (saidBy(current) || !thinking) ? told(current.label) : waiting;
  const found = steps.slice(0, shown + 1).findLast((step) => step.docs.length > 0)?.docs ?? [];
  return (
    <details className="node steps" data-state={over && !label ? 'settled' : 'live'}>
      <summary>
        <span className="dots" aria-hidden="true">
          {steps.map((step, index) => (
            <i key={step.key} data-now={index === shown || undefined} title={told(step.label)} />
          ))}
        </span>
        {label ? <span className="shimmer">{label}</span> : <span className={steps.length > 1 ? 'hidden' : ''}>{words.showSteps}</span>}
        {label && <Found docs={found} />}
        {label && current && !current.label.includes(current.query) && <span className="pill sought">“{current.query}”</span>}
      </summary>
      <ol>
        {steps.map((step) => (
          <li key={step.key}>
            {told(step.label)} {step.query && !step.label.includes(step.query) && `“${step.query}” `}
            <code>{step.node}</code> <Found docs={step.docs} />
          </li>
        ))}
      </ol>
    </details>
  );
}

const mostPills = 6;

/** The documents a step found. */
function Found({ docs }: { docs: Step['docs'] }) {
  const words = useWords();
  return (
    <>
      {docs.slice(0, mostPills).map((doc) => (
        <span key={doc.id} className="pill" title={doc.title}>
          {doc.title}
        </span>
      ))}
      {docs.length > mostPills && <span>{words.andMore(docs.length - mostPills)}</span>}
    </>
  );
}

/** What a tool did, as one quiet line that opens to what went in and what came out. */
export function EvidenceLine({ evidence }: { evidence: Evidence }) {
  const words = useWords();
  const locale = useStore(language);
  const told = useTold();
  const ran = evidence.status === 'ok';
  const summary = told(evidence.summary);
  const facts = [
    evidence.status === 'running' ? words.running : ran ? '' : words.failed,
    ran ? '' : summary,
    evidence.ms === null ? '' : duration(evidence.ms, locale),
  ].filter(Boolean);
  return (
    <details className="node evidence" data-state={evidence.status === 'running' ? 'live' : evidence.status === 'error' ? 'bad' : 'settled'}>
      <summary>
        {ran && <span>{words.ran} </span>}
        <code>{evidence.name}</code>
        {ran && summary && <span> ({summary})</span>} <span>{facts.join(' · ')}</span>
      </summary>
      <dl>
        <dt>{words.toolArguments}</dt>
        <dd>
          <pre tabIndex={0} aria-label={words.toolArguments}>
            {pretty(evidence.args)}
          </pre>
        </dd>
        {(evidence.result !== undefined || summary) && (
          <>
            <dt>{words.toolResult}</dt>
            <dd>
              <pre tabIndex={0} aria-label={words.toolResult}>
                {pretty(evidence.result ?? summary)}
              </pre>
            </dd>
          </>
        )}
      </dl>
    </details>
  );
}

function pretty(value: unknown): string {
  if (value === undefined || value === null) return '–';
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}

const glance = 120; // characters of an answer that are shown at once

/** What was answered: a text that was handed over is folded to its beginning. */
function Given({ text }: { text: string }) {
  if (text.length <= glance) return <b>{text}</b>;
  return (
    <details className="given">
      <summary>
        <b>{text.slice(0, glance).trimEnd()}…</b>
      </summary>
      <p>{text}</p>
    </details>
  );
}

interface AskedProps {
  question: string;
  answer: string | null | undefined; // undefined: somebody answered, not known what
  chosen: boolean;
}

/** A question that is settled, kept in the record. */
export function AskedLine({ question, answer, chosen }: AskedProps) {
  const words = useWords();
  return (
    <div className="node asked" data-state="settled">
      <span>
        {words.asked} <q>{question}</q>
      </span>{' '}
      {answer === undefined && words.settledElsewhere}
      {answer === null && words.youSkipped}
      {typeof answer === 'string' && (
        <span>
          {chosen ? words.youChose : words.youAnswered} <Given text={answer} />
        </span>
      )}
    </div>
  );
}
