import { lazy, Suspense } from 'react';
import { Link } from 'wouter';
import { useRun, useUIConfig } from '../api/queries.ts';
import type { Run, UIConfig } from '../api/types.ts';
import { language, useWords } from '../i18n/index.ts';
import { duration } from '../lib/format.ts';
import { Feedback } from '../feedback/Feedback.tsx';
import { useStore } from '../lib/store.ts';
import { AnswerActions } from './Actions.tsx';
import { ConfidenceMark, SpentMark } from './AnswerMarks.tsx';
import { tracedSteps } from './past.ts';
import { stepsOf, type RailItem, type RunState } from './run.ts';
import { confidenceOf, type Turn } from './thread.ts';

// Few answers followed something that was learnt.
const Followed = lazy(() => import('../learning/Followed.tsx'));

interface Props {
  turn: Turn;
  live: RunState | null;
  seen: boolean;
  text: string;
  items: RailItem[];
}

/** The small print of an answer: how it came about, and the way to its whole story. */
export function TurnFoot({ turn, live, seen, text, items }: Props) {
  const words = useWords();
  const locale = useStore(language);
  const config = useUIConfig();
  const run = useRun(turn.runID, seen);
  const steps = tracedSteps(run.data).length || stepsOf(items).length;
  const tools = items.filter((item) => item.kind === 'tool').length;
  const asked = turn.asked.length > 0 || items.some((item) => item.kind === 'ask');
  const model = live?.done?.model || turn.answer?.meta?.model || '';
  const time = asked ? null : elapsed(run.data); // a person's time to think is not the run's
  const confidence = text ? confidenceOf(live?.done?.data ?? turn.answer?.meta?.data) : null;
  const link = temporalLink(run.data, config.data);
  const lessons = (turn.answer?.followed ?? []).flatMap((one) => one.lessons);
  const facts = [
    steps > 0 ? words.steps(steps) : '',
    tools > 0 ? words.tools(tools) : '',
    model,
    time === null ? '' : duration(time, locale),
  ].filter(Boolean);
  return (
    <footer className="turn-foot">
      {confidence && <ConfidenceMark level={confidence} />}
      {facts.map((fact) => (
        <span key={fact}>{fact}</span>
      ))}
      <SpentMark usage={live?.done?.usage ?? turn.answer?.meta?.usage} />
      {turn.runID && (
        <Link href={`/operate/runs/${turn.runID}`} title={words.traceLinkTitle}>
          {words.traceLink}
        </Link>
      )}
      {link && (
        <a href={link} target="_blank" rel="noopener noreferrer" title={words.runLinkTitle}>
          {words.runLink}
        </a>
      )}
      <AnswerActions turn={turn} text={text} />
      <Feedback turn={turn} live={live} />
      {lessons.length > 0 && (
        <Suspense fallback={null}>
          <Followed lessons={lessons} />
        </Suspense>
      )}
    </footer>
  );
}

function elapsed(run: Run | undefined): number | null {
  if (!run?.ended_at) return null;
  const from = Date.parse(run.started_at ?? run.created_at);
  const ms = Date.parse(run.ended_at) - from;
  return Number.isFinite(ms) && ms >= 0 ? ms : null;
}

function temporalLink(run: Run | undefined, config: UIConfig | undefined): string | null {
  if (!run) return null;
  if (run.temporal_url) return run.temporal_url;
  if (!config?.temporal_ui) return null;
  const { base, namespace } = config.temporal_ui;
  return `${base.replace(/\/$/, '')}/namespaces/${encodeURIComponent(namespace)}/workflows/${encodeURIComponent(run.workflow_id)}`;
}
