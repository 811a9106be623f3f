import { useWords } from '../i18n/index.ts';
import { language } from '../i18n/index.ts';
import { duration } from '../lib/format.ts';
import { useStore } from '../lib/store.ts';
import { usePace } from './pace.ts';
import type { Evidence, Step } from './run.ts';

interface StepsProps {
  steps: Step[];
  over: boolean; // the answer has begun, the run waits for a person, or it has ended
}

/** The steps as one line of dots, the current one in words while it lasts. It keeps its height from first to last. */
export function StepsLine({ steps, over }: StepsProps) {
  const words = useWords();
  const shown = usePace(steps.length, over);
  const current = steps[shown];
  const label = current ? current.label : over ? '' : words.starting;
  return (
    <details className="node steps" data-state={over && !label ? 'settled' : 'live'}>
      <summary>
        <span className="dots" aria-hidden="true">
          {steps.map((step, index) => (
            <i key={step.key} data-now={index === shown || undefined} title={step.label} />
          ))}
        </span>
        {label ? <span className="shimmer">{label}</span> : <span className="hidden">{words.showSteps}</span>}
        {label && current?.docs.map((doc) => (
          <span key={doc.id} className="pill">
            {doc.title}
          </span>
        ))}
        {label && current?.query && <span className="pill">“{current.query}”</span>}
      </summary>
      <ol>
        {steps.map((step) => (
          <li key={step.key}>
            {step.label} <code>{step.node}</code>
          </li>
        ))}
      </ol>
    </details>
  );
}

/** What a tool did, as one quiet line that opens to what went in and what came out. */
export function EvidenceLine({ evidence }: { evidence: Evidence }) {
  const words = useWords();
  const locale = useStore(language);
  const facts = [
    evidence.status === 'running' ? words.running : evidence.status === 'error' ? words.failed : '',
    evidence.summary,
    evidence.ms === null ? '' : duration(evidence.ms, locale),
  ].filter(Boolean);
  return (
    <details className="node evidence" data-state={evidence.status === 'running' ? 'live' : evidence.status === 'error' ? 'bad' : 'settled'}>
      <summary>
        <code>{evidence.name}</code> <span>{facts.join(' · ')}</span>
      </summary>
      <dl>
        <dt>{words.toolArguments}</dt>
        <dd>
          <pre tabIndex={0} aria-label={words.toolArguments}>
            {pretty(evidence.args)}
          </pre>
        </dd>
        {(evidence.result !== undefined || evidence.summary) && (
          <>
            <dt>{words.toolResult}</dt>
            <dd>
              <pre tabIndex={0} aria-label={words.toolResult}>
                {pretty(evidence.result ?? evidence.summary)}
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

interface AskedProps {
  question: string;
  answer: string | null | undefined; // undefined: somebody answered, not known what
  chosen: boolean;
}

/** A question that is settled, kept in the record. */
export function AskedLine({ question, answer, chosen }: AskedProps) {
  const words = useWords();
  return (
    <p className="node asked" data-state="settled">
      <span>
        {words.asked} <q>{question}</q>
      </span>{' '}
      {answer === undefined && words.settledElsewhere}
      {answer === null && words.youSkipped}
      {typeof answer === 'string' && (
        <span>
          {chosen ? words.youChose : words.youAnswered} <b>{answer}</b>
        </span>
      )}
    </p>
  );
}
