import { leaveFor, useProviders } from '../api/account.ts';
import { asksForSetup } from '../api/session.ts';
import { useWords } from '../i18n/index.ts';
import { useAttempt } from './useAttempt.ts';

/** Signing in with an account elsewhere; nothing where there is no provider (AUTH-16). */
export function ProviderButtons({ tenant, setup, onSetup }: { tenant: string; setup: string; onSetup(): void }) {
  const words = useWords();
  const providers = useProviders();
  const attempt = useAttempt();
  if (!providers.data?.length) return null;
  const leave = (name: string) =>
    void attempt.go(async () => {
      try {
        await leaveFor(name, tenant, setup);
      } catch (error) {
        if (asksForSetup(error)) onSetup();
        throw error;
      }
    });
  return (
    <div className="elsewhere">
      <p className="divider">
        <span>{words.or}</span>
      </p>
      {providers.data.map((one) => (
        <button key={one.name} type="button" disabled={attempt.busy || attempt.rest > 0} onClick={() => leave(one.name)}>
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
