import { useEffect, useMemo, useRef, useState } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import { Link } from 'wouter';
import { useMessagesOf } from '../api/thread.ts';
import { useVersions } from '../api/artifacts.ts';
import { useOpenQuestions } from '../api/changes.ts';
import { isOver, runKeys, useOperatedRun, traceOf, type OperatedRun } from '../api/runs.ts';
import { Failure } from '../api/failure.ts';
import { AskedLine } from '../chat/Rail.tsx';
import { Json } from '../code/Json.tsx';
import { turnsOf } from '../chat/thread.ts';
import { language, useWords } from '../i18n/index.ts';
import { useTold } from '../i18n/said.ts';
import { duration, money } from '../lib/format.ts';
import { useStore } from '../lib/store.ts';
import { Picture } from '../picture/Picture.tsx';
import { Answer } from './Answer.tsx';
import { when } from './figures.ts';
import { Card, Loading, TemporalLink, Trouble } from './parts.tsx';
import { Replay } from './Replay.tsx';
import { RoutingCard } from './RoutingCard.tsx';
import { dotOf, tookOf } from './Runs.tsx';
import { openOf, StepCard, tookStep } from './StepCard.tsx';
import { standing, standsAt, stopsOf, type Stop } from './trace.ts';

/** One run: its trace, step by step, and why. */
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
  const told = useTold();
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
        {run.asked && <p className="asked-words">{run.asked}</p>}
        <Facts run={run} />
        {run.error && (
          <p className="problem" role="alert">
            {run.error.node && <code>{run.error.node}</code>} {told(run.error.message, run.error.said)}
          </p>
        )}
      </header>
      <Trace run={run} foreign={run.limited === true} />
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

function Trace({ run, foreign }: { run: OperatedRun; foreign: boolean }) {
  const words = useWords();
  const trace = traceOf(run);
  const steps = useMemo(() => stopsOf(run), [run]);
  // Where a run failed or stands is what its reader came for. It is followed
  // until another step is chosen.
  const told = useTold();
  const [followed] = useState(!isOver(run));
  const [picked, setPicked] = useState<number | null>(null);
  const at = Math.min(picked ?? (followed || run.status === 'failed' ? standsAt(steps) : 0), steps.length - 1);
  const detail = useRef<HTMLDivElement>(null);
  const choose = (step: number) => {
    setPicked(step);
    // On a phone the step is told below the list.
    requestAnimationFrame(() => detail.current?.scrollIntoView({ block: 'nearest' }));
  };
  return (
    <div className="run-body">
      <Card title={isOver(run) ? words.traceSteps : words.traceSoFar} className="trace">
        <Unsaid run={run} steps={steps} />
        {steps.length > 0 && <Rail steps={steps} at={at} onChoose={choose} />}
        {trace.path && trace.path.length > 0 && (
          <details className="more">
            <summary>{words.readPath}</summary>
            <ol className="read-path">
              {trace.path.map((stage) => (
                <li key={stage.name}>
                  <code>{stage.name}</code> {stage.note && <small>{told(stage.note)}</small>}
                </li>
              ))}
            </ol>
          </details>
        )}
      </Card>
      <div className="main-side">
        {steps[at] && (
          <div ref={detail} className="detail">
            <StepCard key={at} steps={steps} at={at} calls={trace.calls ?? []} foreign={foreign} over={isOver(run)} />
          </div>
        )}
        {run.status === 'waiting' && !run.conversation_id && !run.patch_id && !foreign && <Waits run={run.id} />}
        {run.input && Object.keys(run.input).length > 0 && (
          <Card title={words.runInput}>
            <Json value={run.input} />
          </Card>
        )}
        {run.conversation_id && !foreign && <Asked conversation={run.conversation_id} run={run.id} />}
        <Drawn run={run} steps={steps} onPick={(node) => choose(Math.max(0, steps.findIndex((step) => step.node === node)))} />
        {isOver(run) && run.artifact && <Replay run={run} />}
        {trace.routing && <RoutingCard routing={trace.routing} />}
        {(run.pins ?? []).length > 0 && <Pins run={run} />}
      </div>
    </div>
  );
}

/** Why there is no trace to see, or not the newest. */
function Unsaid({ run, steps }: { run: OperatedRun; steps: Stop[] }) {
  const words = useWords();
  let text = '';
  if (isOver(run)) text = steps.length > 0 ? '' : words.runNoTrace;
  else if (run.status === 'queued') text = words.runNotBegun;
  else if (!run.live?.known) text = steps.length > 0 ? words.runSilent : words.runUnknown;
  else if (steps.length === 0) text = words.runJustBegun;
  return (
    <p className="hint" role="status">
      {text}
    </p>
  );
}

const page = 200; // steps shown at once; a trace may have ten thousand

function Rail({ steps, at, onChoose }: { steps: Stop[]; at: number; onChoose(at: number): void }) {
  const words = useWords();
  const locale = useStore(language);
  const [shown, setShown] = useState(page);
  const visible = steps.slice(0, Math.max(shown, at + 1));
  return (
    <>
      <ol className="stops choosable">
        {visible.map((step, index) => (
          // oxlint-disable-next-line react/no-array-index-key
          <li key={index} data-state={step.state}>
            <button type="button" aria-current={index === at ? 'step' : undefined} onClick={() => onChoose(index)}>
              <span className="step-name">{step.node}</span>
              <small>
                {step.type}
                {step.attempt && step.attempt > 1 ? ` · ${words.stepAttempt(step.attempt)}` : ''}
                {tookStep(step, (ms) => ` · ${duration(ms, locale)}`)}
                {step.outcome && step.outcome !== 'ok' ? ` · ${words.stepOutcome(step.outcome)}` : ''}
                {openOf(step, words) && ` · ${openOf(step, words)}`}
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

/** What a run by itself waits with, answered here: no conversation asks it. */
function Waits({ run }: { run: string }) {
  const words = useWords();
  const client = useQueryClient();
  const asked = (useOpenQuestions().data ?? []).filter((one) => one.run_id === run);
  if (asked.length === 0) return null;
  return (
    <Card title={words.needsAnswer}>
      {asked.map((one) => (
        <div key={one.interrupt_id} className="open-question">
          <p className="asked-words">{one.message}</p>
          <Answer question={one} onAnswered={() => void client.invalidateQueries({ queryKey: runKeys.one(run) })} />
        </div>
      ))}
    </Card>
  );
}

/** What a person was asked on the way, and what they said. */
function Asked({ conversation, run }: { conversation: string; run: string }) {
  const words = useWords();
  const messages = useMessagesOf(conversation, run);
  const asked = turnsOf(messages.data ?? []).flatMap((turn) => turn.asked);
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
function Drawn({ run, steps, onPick }: { run: OperatedRun; steps: Stop[]; onPick(node: string): void }) {
  const words = useWords();
  const versions = useVersions(run.artifact?.id);
  const doc = versions.data?.find((one) => one.version === run.artifact?.version)?.schema;
  const path = useMemo(() => steps.filter((step) => (step.attempt ?? 0) <= 1).map((step) => step.node), [steps]);
  const stands = useMemo(() => standing(steps), [steps]);
  if (!doc) return null;
  return (
    <Card title={words.tracePicture}>
      <Picture doc={doc} path={path} standing={stands} onPick={onPick} />
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
