import { useEffect, useMemo, useRef, useState } from 'react';
import { Link } from 'wouter';
import { useThread } from '../api/queries.ts';
import { isOver, useOperatedRun, useVersions, wayOf, type OperatedRun, type Step } from '../api/runs.ts';
import { Failure } from '../api/failure.ts';
import { AskedLine } from '../chat/Rail.tsx';
import { turnsOf } from '../chat/thread.ts';
import { language, useWords } from '../i18n/index.ts';
import { duration, money } from '../lib/format.ts';
import { useStore } from '../lib/store.ts';
import { Picture } from '../picture/Picture.tsx';
import { when } from './figures.ts';
import { Card, Loading, TemporalLink, Trouble } from './parts.tsx';
import { Replay } from './Replay.tsx';
import { RoutingCard } from './RoutingCard.tsx';
import { dotOf, tookOf } from './Runs.tsx';
import { StepCard } from './StepCard.tsx';

/** One run: the way it took, step by step, and why. */
export function RunPage({ id }: { id: string }) {
  const words = useWords();
  const run = useOperatedRun(id);
  const back = { back: '/operate/runs', backText: words.backToRuns };
  if (run.data) return <Whole run={run.data} />;
  if (run.isPending) return <Loading />;
  const gone = run.error instanceof Failure && (run.error.status === 404 || run.error.status === 400);
  return <Trouble text={gone ? words.runNotFound : words.runLoadFailed} {...(gone ? {} : { retry: () => void run.refetch() })} {...back} />;
}

function Whole({ run }: { run: OperatedRun }) {
  const words = useWords();
  const name = run.artifact?.name ?? words.runKind(run.kind);
  useEffect(() => {
    document.title = `${name} · ${words.runs} · Liminal`;
  }, [name, words]);
  return (
    <article className="run">
      <header className="run-head">
        <h1>
          {name} {run.artifact && <span className="versions">v{run.artifact.version}</span>}
        </h1>
        <Facts run={run} />
        {run.error && (
          <p className="problem" role="alert">
            {run.error.node && <code>{run.error.node}</code>} {run.error.message}
          </p>
        )}
      </header>
      <Way run={run} foreign={run.limited === true} />
    </article>
  );
}

function Facts({ run }: { run: OperatedRun }) {
  const words = useWords();
  const locale = useStore(language);
  const took = tookOf(run);
  const cost = (run.result as { usage?: { cost_usd?: number | null } } | null | undefined)?.usage?.cost_usd;
  const facts = [
    words.runKind(run.kind),
    run.user?.name ?? '',
    when(run.created_at, locale),
    took === null ? '' : duration(took, locale),
    typeof cost === 'number' && cost > 0 ? money(cost, locale) : '',
  ].filter(Boolean);
  return (
    <p className="byline">
      <span className="run-status" data-state={dotOf(run)}>
        <span className="dot" aria-hidden="true" />
        {words.runStatus(run.status)}
      </span>
      <span>{facts.join(' · ')}</span>
      {run.conversation_id && <Link href={`/c/${run.conversation_id}`}>{words.openConversation}</Link>}
      {run.patch_id && <Link href={`/operate/patches/${run.patch_id}`}>{words.patchTitle(run.patch_id)}</Link>}
      <TemporalLink href={run.temporal_url} />
    </p>
  );
}

function Way({ run, foreign }: { run: OperatedRun; foreign: boolean }) {
  const words = useWords();
  const way = wayOf(run);
  const steps = useMemo(() => way.steps ?? [], [way.steps]);
  // Where a run failed is what its reader came for.
  const [at, setAt] = useState(() => (run.status === 'failed' ? Math.max(0, steps.length - 1) : 0));
  const detail = useRef<HTMLDivElement>(null);
  const choose = (step: number) => {
    setAt(step);
    // On a phone the step is told below the list.
    requestAnimationFrame(() => detail.current?.scrollIntoView({ block: 'nearest' }));
  };
  const chosen = steps[Math.min(at, steps.length - 1)];
  return (
    <div className="run-body">
      <Card title={words.traceSteps} className="trace">
        {steps.length === 0 && <p className="hint">{isOver(run) ? words.runNoTrace : words.runTraceLater}</p>}
        {steps.length > 0 && <Rail steps={steps} at={Math.min(at, steps.length - 1)} onChoose={choose} />}
        {way.path && way.path.length > 0 && (
          <details className="more">
            <summary>{words.readPath}</summary>
            <ol className="read-path">
              {way.path.map((stage) => (
                <li key={stage.name}>
                  <code>{stage.name}</code> {stage.note && <small>{stage.note}</small>}
                </li>
              ))}
            </ol>
          </details>
        )}
      </Card>
      <div className="main-side">
        {chosen && (
          <div ref={detail} className="detail">
            <StepCard key={at} steps={steps} at={Math.min(at, steps.length - 1)} calls={way.calls ?? []} foreign={foreign} />
          </div>
        )}
        {run.conversation_id && !foreign && <Asked conversation={run.conversation_id} run={run.id} />}
        <Drawn run={run} steps={steps} onPick={(node) => choose(Math.max(0, steps.findIndex((step) => step.node === node)))} />
        {isOver(run) && run.artifact && <Replay run={run} />}
        {way.routing && <RoutingCard routing={way.routing} />}
        {(run.pins ?? []).length > 0 && <Pins run={run} />}
      </div>
    </div>
  );
}

const page = 200; // steps shown at once; a trace may have ten thousand

function Rail({ steps, at, onChoose }: { steps: Step[]; at: number; onChoose(at: number): void }) {
  const words = useWords();
  const locale = useStore(language);
  const [shown, setShown] = useState(page);
  const visible = steps.slice(0, Math.max(shown, at + 1));
  return (
    <>
      <ol className="stops choosable">
        {visible.map((step, index) => (
          // oxlint-disable-next-line react/no-array-index-key
          <li key={index} data-state={stateOf(step)}>
            <button type="button" aria-current={index === at ? 'step' : undefined} onClick={() => onChoose(index)}>
              <span className="step-name">{step.node}</span>
              <small>
                {step.type}
                {step.attempt && step.attempt > 1 ? ` · ${words.stepAttempt(step.attempt)}` : ''}
                {tookStep(step, (ms) => ` · ${duration(ms, locale)}`)}
                {step.outcome && step.outcome !== 'ok' ? ` · ${words.stepOutcome(step.outcome)}` : ''}
              </small>
            </button>
          </li>
        ))}
      </ol>
      {visible.length < steps.length && (
        <button type="button" className="quiet" onClick={() => setShown(visible.length + page)}>
          {words.moreSteps(Math.min(page, steps.length - visible.length))}
        </button>
      )}
    </>
  );
}

function stateOf(step: Step): string {
  if (step.outcome === 'failed' || step.outcome === 'abandoned') return 'failed';
  if (step.outcome === 'retried' || step.outcome === 'expired') return 'warning';
  if (!step.outcome && !step.ended) return step.type === 'interrupt' ? 'wait' : 'live';
  return step.outcome === 'skipped' ? 'waiting' : 'ok';
}

/** How long a step took, in the words of the caller; nothing for those that only decide. */
export function tookStep(step: Step, say: (ms: number) => string): string {
  const ms = step.ended ? Date.parse(step.ended) - Date.parse(step.started) : Number.NaN;
  return ms > 0 ? say(ms) : '';
}

/** What a person was asked on the way, and what they said. */
function Asked({ conversation, run }: { conversation: string; run: string }) {
  const words = useWords();
  const thread = useThread(conversation);
  const asked = turnsOf(thread.data?.data ?? []).filter((turn) => turn.runID === run).flatMap((turn) => turn.asked);
  if (asked.length === 0) return null;
  return (
    <Card title={words.questionAndAnswer}>
      <div className="rail">
        {asked.map((one) => (
          <AskedLine key={one.key} question={one.question} answer={one.answer} chosen={one.chosen} />
        ))}
      </div>
    </Card>
  );
}

/** The graph at the version the run followed, with the way it took. */
function Drawn({ run, steps, onPick }: { run: OperatedRun; steps: Step[]; onPick(node: string): void }) {
  const words = useWords();
  const versions = useVersions(run.artifact?.id);
  const doc = versions.data?.find((one) => one.version === run.artifact?.version)?.schema;
  const path = useMemo(() => steps.filter((step) => (step.attempt ?? 0) <= 1).map((step) => step.node), [steps]);
  if (!doc) return null;
  return (
    <Card title={words.tracePicture}>
      <Picture doc={doc} path={path} onPick={onPick} />
    </Card>
  );
}

function Pins({ run }: { run: OperatedRun }) {
  const words = useWords();
  return (
    <Card title={words.runPins}>
      <ul className="pins">
        {run.pins!.map((pin) => (
          <li key={`${pin.id} ${pin.name}`}>
            {pin.name} <span className="versions">v{pin.version}</span>
          </li>
        ))}
      </ul>
    </Card>
  );
}
