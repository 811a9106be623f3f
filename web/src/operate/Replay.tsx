import { useState } from 'react';
import { useVersions } from '../api/artifacts.ts';
import { replay, type OperatedRun, type RehearsedRun } from '../api/runs.ts';
import { useAttempt } from '../account/useAttempt.ts';
import { useWords } from '../i18n/index.ts';
import { useTold } from '../i18n/said.ts';
import { Card } from './parts.tsx';
import { SideBySide } from './SideBySide.tsx';

/** Plays a run that happened over another version of its workflow: nothing happens outside. */
export function Replay({ run }: { run: OperatedRun }) {
  const words = useWords();
  const told = useTold();
  const attempt = useAttempt();
  const versions = useVersions(run.artifact!.id).data ?? [];
  const newest = versions.reduce((top, one) => Math.max(top, one.version), run.artifact!.version);
  const [version, setVersion] = useState<number | null>(null);
  const [played, setPlayed] = useState<RehearsedRun | null>(null);
  const chosen = version ?? newest;
  if (run.recorded === false) {
    return (
      <Card title={words.rehearseOn}>
        <p className="hint">{words.rehearseNotRecorded}</p>
      </Card>
    );
  }
  return (
    <Card title={words.rehearseOn} className="replay">
      <form
        className="flex-row"
        onSubmit={(event) => {
          event.preventDefault();
          void attempt.go(async () => setPlayed(await replay(run.id, chosen)));
        }}
      >
        <label className="filter">
          <span>{words.rehearseOnVersion}</span>
          <select value={chosen} onChange={(event) => setVersion(Number(event.target.value))}>
            {versions.map((one) => (
              <option key={one.version} value={one.version}>
                v{one.version}
                {one.change_note ? ` · ${told(one.change_note, one.said).slice(0, 40)}` : ''}
              </option>
            ))}
          </select>
        </label>
        <button type="submit" disabled={attempt.busy || versions.length === 0}>
          {words.rehearseGo}
        </button>
      </form>
      {attempt.problem && (
        <p role="alert" className="problem">
          {attempt.problem}
        </p>
      )}
      <div role="status">{played && <Shown played={played} />}</div>
    </Card>
  );
}

function Shown({ played }: { played: RehearsedRun }) {
  const words = useWords();
  const divergences = played.divergences ?? [];
  return (
    <>
      <SideBySide old={played.old ?? []} now={played.new ?? []} part={played.part} />
      {divergences.length > 0 && (
        <>
          <h3>{words.divergences}</h3>
          <ul className="problems">
            {divergences.map((one) => (
              <li key={one.effect}>
                <p>
                  <code>{one.node}</code> {one.message}
                </p>
              </li>
            ))}
          </ul>
        </>
      )}
      {played.outcome && (
        <p className="outcome" data-status={played.outcome.status}>
          {words.rehearseOutcome}: <b>{words.runStatus(played.outcome.status)}</b> {played.outcome.node && <code>{played.outcome.node}</code>}
          {played.outcome.message && <span className="hint"> {played.outcome.message}</span>}
        </p>
      )}
    </>
  );
}
