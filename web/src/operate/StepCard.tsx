import type { Call, Step } from '../api/runs.ts';
import type { Dictionary } from '../i18n/en.ts';
import { Json } from '../code/Json.tsx';
import { language, useWords } from '../i18n/index.ts';
import { useTold } from '../i18n/said.ts';
import { duration } from '../lib/format.ts';
import { useStore } from '../lib/store.ts';
import { useAdapterWords } from './adapterWords.ts';
import { when } from './figures.ts';
import { Card } from './parts.tsx';
import type { Stop } from './trace.ts';

interface Props {
  steps: Stop[];
  at: number;
  calls: Call[];
  foreign: boolean; // another person's: only its trace is shown
  over: boolean; // nothing more will be told of a step
}

/** How long a step took, in the words of the caller; nothing for those that only decide. */
export function tookStep(step: Step, say: (ms: number) => string): string {
  const ms = step.ended ? Date.parse(step.ended) - Date.parse(step.started) : Number.NaN;
  return ms > 0 ? say(ms) : '';
}

/** What an open step waits for. */
export function openOf(step: Stop, words: Dictionary): string {
  if (!step.since) return '';
  if (step.pauses) return words.stepPauses;
  if (step.state === 'wait') return words.stepWaits;
  return step.state === 'live' ? words.stepAtWork : words.stepOpen;
}

/** One step of a run: what it was given, what came of it, and why the run went on as it did. */
export function StepCard({ steps, at, calls, foreign, over }: Props) {
  const words = useWords();
  const locale = useStore(language);
  const told = useTold();
  const step = steps[at]!;
  const made = calls.filter((call) => (step.effect ? call.effect === step.effect : call.node === step.node) && (call.attempt || 1) === (step.attempt || 1));
  const facts = [
    step.type,
    step.outcome ? words.stepOutcome(step.outcome) : '',
    step.visit > 1 ? words.stepVisit(step.visit) : '',
    step.attempt && step.attempt > 1 ? words.stepAttempt(step.attempt) : '',
    tookStep(step, (ms) => duration(ms, locale)),
    openOf(step, words),
    step.since ? words.stepSince(when(step.since, locale)) : when(step.started, locale),
  ].filter(Boolean);
  return (
    <Card title={step.node} note={words.stepNumber(at + 1, steps.length)} className="step">
      <p className="hint">{facts.join(' · ')}</p>
      {step.detail && <p className={step.outcome === 'failed' ? 'problem' : 'step-detail'}>{told(step.detail, step.said)}</p>}
      {step.says && <p className="step-detail">{step.says}</p>}
      {step.type === 'switch' && <Why step={step} next={steps[at + 1]} />}
      {made.map((call) => (
        <Made key={`${call.effect} ${call.attempt}`} call={call} />
      ))}
      {made.length === 0 && step.type === 'tool_call' && <p className="hint">{foreign ? words.stepHidden : over ? words.stepNothing : words.stepLater}</p>}
    </Card>
  );
}

/** Which condition chose the way, and of what it was true. */
function Why({ step, next }: { step: Step; next: Step | undefined }) {
  const words = useWords();
  return (
    <section className="why-way">
      <h3>{words.whyThisWay}</h3>
      <p>
        {step.condition ? (
          <>
            {words.chosenBy} <code>{step.condition}</code>
          </>
        ) : (
          words.stepOtherwise
        )}
        {next && (
          <>
            {' → '}
            <b>{next.node}</b>
          </>
        )}
      </p>
      {step.values && Object.keys(step.values).length > 0 && (
        <dl className="values">
          {Object.entries(step.values).map(([name, value]) => (
            <div key={name}>
              <dt>
                <code>{name}</code>
              </dt>
              <dd>
                <code>{JSON.stringify(value)}</code>
              </dd>
            </div>
          ))}
        </dl>
      )}
    </section>
  );
}

/** How a model was asked otherwise than routing chose. */
function Reached({ adapters }: { adapters: NonNullable<Call['adapters']> }) {
  const words = useAdapterWords();
  return (
    <>
      {adapters.approximate && <p className="hint">{words.adaptersApproximate}</p>}
      {(adapters.left ?? []).length > 0 && (
        <>
          <h4>{words.adaptersLeft}</h4>
          <ul className="unseen">
            {adapters.left!.map((one) => (
              <li key={one.id}>
                <code>{one.id}</code> <small>{words.adapterLeftFor(one.reason)}</small>
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}

function Made({ call }: { call: Call }) {
  const words = useWords();
  const locale = useStore(language);
  const told = useTold();
  const held = call.arguments !== undefined || call.result !== undefined;
  return (
    <section className="made">
      <h3>
        <code>{call.tool}</code> <small>{duration(call.ms, locale)}</small>
      </h3>
      {call.error && <p className="problem">{told(call.error, call.said)}</p>}
      {call.adapters && <Reached adapters={call.adapters} />}
      {call.arguments !== undefined && (
        <>
          <h4>{words.stepInputs}</h4>
          <Json value={call.arguments} />
        </>
      )}
      {call.result !== undefined && (
        <>
          <h4>{words.stepResult}</h4>
          <Json value={call.result} />
        </>
      )}
      {!held && !call.error && <p className="hint">{words.stepHidden}</p>}
    </section>
  );
}
