import type { Tried } from '../api/artifacts.ts';
import { useWords } from '../i18n/index.ts';
import { useTold } from '../i18n/said.ts';
import { Rehearsal } from '../operate/Rehearsal.tsx';

/** What the checks and the rehearsal say of a change that is not proposed yet. */
export function TriedReport({ tried }: { tried: Tried }) {
  const words = useWords();
  const told = useTold();
  const reports = (tried.changes ?? []).flatMap((change) => (change.report ? [change.report] : []));
  const grave = tried.verdict !== '' && tried.verdict !== 'pass' && (tried.reasons ?? []).length > 0;
  return (
    <div className="tried">
      <p role="status" className={tried.ok ? '' : 'problem'}>
        {tried.ok ? words.triedOK : words.triedFailed}
      </p>
      <ol className="stops">
        {(tried.checks ?? []).map((check) => (
          <li key={check.name} data-state={check.state}>
            <span>{words.checkName(check.name)}</span> <span className={check.state === 'ok' || check.state === 'waiting' ? 'hidden' : 'state'}>{words.checkState(check.state)}</span>
            {(check.problems ?? []).map((problem, at) => (
              <p key={at} className="hint">
                {told(problem.message)} {told(problem.hint ?? '')}
              </p>
            ))}
          </li>
        ))}
      </ol>
      {grave && (
        <ul className="flaws">
          {(tried.reasons ?? []).map((reason) => (
            <li key={reason}>{told(reason)}</li>
          ))}
        </ul>
      )}
      {reports.map((report, at) => (
        <section key={at}>
          {report.sample.taken > 0 && <p className="hint">{words.triedOn(words.rehearsalOf(report.sample.taken, report.sample.population))}</p>}
          <Rehearsal report={report} />
        </section>
      ))}
      {reports.length === 0 && tried.ok && <p className="hint">{words.noRehearsalKind}</p>}
    </div>
  );
}
