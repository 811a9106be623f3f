import { useContext } from 'react';
import { useUsage } from '../api/queries.ts';
import type { Trouble } from '../api/follow.ts';
import type { Interrupt, RunProblem } from '../api/types.ts';
import { language, useWords } from '../i18n/index.ts';
import { useTold } from '../i18n/said.ts';
import { SurfaceContext } from '../knowledge/surface.ts';
import { useStore } from '../lib/store.ts';
import { isSpent, overdrawn } from './budget.ts';
import { waitsForProgram } from './QuestionCard.tsx';
import { resting } from './resting.ts';
import { saidBy, stepsOf, type RunState } from './run.ts';

interface Props {
  state: RunState;
  trouble: Trouble | null;
  user: string;
  giveBack(text: string, doc?: unknown): void;
}

/** What has to be said about a run while it goes on, or about how it ended. */
export function Live({ state, trouble, user, giveBack }: Props) {
  const words = useWords();
  const asked = openQuestion(state);
  return (
    <>
      {state.phase === 'waiting' && (
        <p className="node note-line" data-state="wait">
          {asked && waitsForProgram(asked) ? words.needsProgram : words.waitingForYou}
        </p>
      )}
      {state.gap && <p className="node note-line">{words.gap}</p>}
      {trouble && (
        <p className="node note-line" data-state="wait-quiet" role="status">
          {words.away(trouble.cause)}
        </p>
      )}
      {state.phase === 'stopped' && <p className="node note-line">{words.stopped}</p>}
      {state.done?.truncated && <p className="node note-line">{words.truncated}</p>}
      {state.phase === 'failed' && <Failed problem={state.error} at={null} user={user} giveBack={giveBack} />}
      <Spoken state={state} />
    </>
  );
}

interface FailedProps {
  problem: RunProblem | null | undefined;
  at: string | null; // when it failed; null: just now
  user: string;
  giveBack(text: string, doc?: unknown): void;
}

/** Why there is no answer, and the question back. */
export function Failed({ problem, at, user, giveBack }: FailedProps) {
  const words = useWords();
  const locale = useStore(language);
  const told = useTold();
  return (
    <div className="node failure" data-state="bad" role="alert">
      <p>{isSpent(problem) ? <Spent sentence={told(problem.message, problem.said)} at={at} /> : `${words.runFailed} ${resting(problem, words, locale)}`}</p>
      {user && (
        <button type="button" className="quiet" onClick={() => giveBack(user)}>
          {words.askAgain}
        </button>
      )}
    </div>
  );
}

/** What was used of a budget, and when it renews; the server's own sentence where that is not known any more. */
function Spent({ sentence, at }: { sentence: string; at: string | null }) {
  const words = useWords();
  const locale = useStore(language);
  const usage = useUsage(true).data;
  const over = usage && overdrawn(usage, at === null ? Date.now() : Date.parse(at), locale);
  if (!over) return sentence;
  return over.of === 'day' ? words.daySpent(over.used, over.limit, over.renews) : words.monthSpent(over.used, over.limit, over.renews);
}

/** The latest question of a run that is not answered. */
function openQuestion(state: RunState): Interrupt | undefined {
  const open = state.items.findLast((item) => item.kind === 'ask' && !item.settled);
  return open?.kind === 'ask' ? open.interrupt : undefined;
}

/** The status for those who listen: each step, never each token. */
function Spoken({ state }: { state: RunState }) {
  const words = useWords();
  const told = useTold();
  const surface = useContext(SurfaceContext);
  const step = stepsOf(state.items).at(-1);
  const thinking = state.phase === 'working' ? surface?.thinking : '';
  const label = told(saidBy(step)) || thinking || (step?.label ?? '');
  const asked = openQuestion(state);
  let spoken = state.text === '' ? label : '';
  if (state.phase === 'waiting' && asked) spoken = `${waitsForProgram(asked) ? words.needsProgram : words.needsAnswer}: ${asked.message}`;
  if (state.phase === 'done' && !state.done?.suppressed) spoken = `${words.liminal}: ${state.text.slice(0, 400)}`;
  if (state.phase === 'stopped') spoken = words.stopped;
  return (
    <p className="hidden" aria-live="polite">
      {spoken}
    </p>
  );
}
