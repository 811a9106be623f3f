import { leaveFor, useProviders } from '../api/account.ts';
import { useWords } from '../i18n/index.ts';
import { useAttempt } from './useAttempt.ts';

/** Signing in with an account elsewhere; nothing where there is no provider (AUTH-16). */
export function Elsewhere({ tenant }: { tenant: string }) {
  const words = useWords();
  const providers = useProviders();
  const attempt = useAttempt();
  if (!providers.data?.length) return null;
  return (
    <div className="elsewhere">
      <p className="divider">
        <span>{words.or}</span>
      </p>
      {providers.data.map((one) => (
        <button key={one.name} type="button" disabled={attempt.busy || attempt.rest > 0} onClick={() => void attempt.go(() => leaveFor(one.name, tenant))}>
          {words.continueWith(one.label)}
        </button>
      ))}
      {attempt.problem && (
        <p role="alert" className="problem">
          {attempt.problem}
        </p>
      )}
    </div>
  );
}
