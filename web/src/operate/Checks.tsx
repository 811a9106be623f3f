import type { Check, Patch, Problem } from '../api/changes.ts';
import { useWords } from '../i18n/index.ts';
import { useTold } from '../i18n/said.ts';
import { placeOf } from './graph.ts';
import { Card } from './parts.tsx';

type State = Check['state'] | 'live' | 'wait' | 'ended';

interface Stop {
  name: string;
  state: State;
  problems: Problem[];
}

const names = ['schema', 'references', 'expressions', 'limits', 'rehearsal'];

/** The whole way of a patch: the checks it has to pass, and what people do after them. */
export function stopsOf(patch: Patch): Stop[] {
  const made = new Map((patch.checks ?? []).map((check) => [check.name, check]));
  const working = patch.stage === 'checking' || patch.stage === 'rehearsing';
  let began = false; // a check under way is the first that has not been made
  const checks = [...new Set([...names, ...made.keys()])].map((name): Stop => {
    const check = made.get(name);
    let state: State = check?.state ?? 'waiting';
    if (working && !began && state === 'waiting') [state, began] = ['live', true];
    return { name, state, problems: check?.problems ?? [] };
  });
  return [...checks, ...after(patch)];
}

/** What became of a patch that went no further; it ends the rail. */
const ends: ReadonlySet<string> = new Set(['rejected', 'expired', 'withdrawn', 'superseded']);

function after(patch: Patch): Stop[] {
  const stop = (name: string, state: State): Stop => ({ name, state, problems: [] });
  if (patch.status === 'invalid') return [];
  const applied = patch.status === 'applied' || patch.status === 'rolled_back';
  if (ends.has(patch.status)) {
    const approved = patch.status !== 'rejected' && Boolean(patch.decided_at);
    return [...(approved ? [stop('decision', 'ok')] : []), stop(patch.status, 'ended')];
  }
  return [
    stop('decision', patch.stage === 'deciding' ? 'wait' : applied || patch.status === 'approved' ? 'ok' : 'waiting'),
    stop('applied', patch.stage === 'applying' ? 'wait' : applied ? 'ok' : 'waiting'),
    patch.status === 'rolled_back' ? stop('rolled_back', 'ended') : stop('watched', patch.stage === 'watching' ? 'live' : applied ? 'ok' : 'waiting'),
  ];
}

/** States whose dot says enough to those who see it. */
const plain: ReadonlySet<State> = new Set(['ok', 'waiting', 'ended']);

/** The checks and stages as a rail, each with what is wrong and a way to the place. */
export function Checks({ patch, onShow }: { patch: Patch; onShow(change: number, pointer: string): void }) {
  const words = useWords();
  return (
    <Card title={words.checks} className="checks">
      <ol className="stops">
        {stopsOf(patch).map((stop) => (
          <li key={stop.name} data-state={stop.state}>
            <span>{stop.state === 'ended' ? words.statusOfPatch(patch.status, 'settled') : words.checkName(stop.name)}</span>
            {stop.state !== 'ended' && <span className={plain.has(stop.state) ? 'hidden' : 'state'}> {words.checkState(stop.state)}</span>}
            {stop.problems.length > 0 && <Problems problems={stop.problems} several={patch.changes.length > 1} onShow={onShow} />}
          </li>
        ))}
      </ol>
    </Card>
  );
}

function Problems({ problems, several, onShow }: { problems: Problem[]; several: boolean; onShow(change: number, pointer: string): void }) {
  const words = useWords();
  const told = useTold();
  return (
    <ul className="problems">
      {problems.map((problem) => {
        const { change, pointer } = placeOf(problem.path);
        return (
          <li key={`${problem.path} ${problem.message}`}>
            <p>{told(problem.message)}</p>
            {problem.hint && <p className="hint">{told(problem.hint)}</p>}
            {problem.path && (
              <button type="button" className="link" aria-label={words.showPlace(problem.path)} onClick={() => onShow(change, pointer)}>
                <code>{several ? problem.path : pointer}</code>
              </button>
            )}
          </li>
        );
      })}
    </ul>
  );
}
