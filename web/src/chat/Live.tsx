import { useWords } from '../i18n/index.ts';
import { stepsOf, type RunState } from './run.ts';

interface Props {
  state: RunState;
  trouble: number;
  user: string;
  giveBack(text: string): void;
}

/** What has to be said about a run while it goes on, or about how it ended. */
export function Live({ state, trouble, user, giveBack }: Props) {
  const words = useWords();
  return (
    <>
      {state.phase === 'waiting' && (
        <p className="node note-line" data-state="wait">
          {words.waitingForYou}
        </p>
      )}
      {state.gap && <p className="node note-line">{words.gap}</p>}
      {trouble > 0 && (
        <p className="node note-line" data-state="wait-quiet" role="status">
          {words.reconnecting}
        </p>
      )}
      {state.phase === 'stopped' && <p className="node note-line">{words.stopped}</p>}
      {state.done?.truncated && <p className="node note-line">{words.truncated}</p>}
      {state.phase === 'failed' && <Failed reason={state.error} user={user} giveBack={giveBack} />}
      <Spoken state={state} />
    </>
  );
}

/** Why there is no answer, and the question back. */
export function Failed({ reason, user, giveBack }: { reason: string; user: string; giveBack(text: string): void }) {
  const words = useWords();
  return (
    <div className="node failure" data-state="bad" role="alert">
      <p>
        {words.runFailed} {reason}
      </p>
      {user && (
        <button type="button" className="quiet" onClick={() => giveBack(user)}>
          {words.askAgain}
        </button>
      )}
    </div>
  );
}

/** The status for those who listen: each step, never each token. */
function Spoken({ state }: { state: RunState }) {
  const words = useWords();
  const label = stepsOf(state.items).at(-1)?.label ?? '';
  const open = state.items.findLast((item) => item.kind === 'ask' && !item.settled);
  let spoken = state.text === '' ? label : '';
  if (state.phase === 'waiting' && open?.kind === 'ask') spoken = `${words.needsAnswer}: ${open.interrupt.message}`;
  if (state.phase === 'done' && !state.done?.suppressed) spoken = `${words.liminal}: ${state.text.slice(0, 400)}`;
  if (state.phase === 'stopped') spoken = words.stopped;
  return (
    <p className="hidden" aria-live="polite">
      {spoken}
    </p>
  );
}
