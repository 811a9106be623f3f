import { useState } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import { accountKeys, endOtherSessions, endSession, useSessions } from '../api/account.ts';
import type { SignedInOn } from '../api/types.ts';
import { language, useWords } from '../i18n/index.ts';
import { stamp } from '../lib/format.ts';
import { useStore } from '../lib/store.ts';
import { Confirm } from '../shell/Confirm.tsx';
import { deviceName } from './device.ts';
import { Section } from './Section.tsx';
import { accountSentence } from './errors.ts';
import { useAttempt } from './useAttempt.ts';

/** Where an account is signed in, this page first; each of the others can be ended. */
export function SessionsSection() {
  const words = useWords();
  const client = useQueryClient();
  const sessions = useSessions();
  const attempt = useAttempt();
  const [asking, setAsking] = useState(false);
  const own = sessions.data?.filter((one) => one.current) ?? [];
  const others = sessions.data?.filter((one) => !one.current) ?? [];

  const end = (work: () => Promise<unknown>) => {
    setAsking(false);
    void attempt.go(async () => {
      await work();
      await client.invalidateQueries({ queryKey: accountKeys.sessions });
    });
  };

  return (
    <Section title={words.sessions} stage={String(others.length)}>
      <ul className="sign-ins">
        {[...own, ...others].map((one) => (
          <SignIn key={one.id} one={one} busy={attempt.busy} end={() => end(() => endSession(one.id))} />
        ))}
      </ul>
      {(attempt.problem || sessions.isError) && (
        <p role="alert" className="problem">
          {attempt.problem || accountSentence(sessions.error)}
        </p>
      )}
      {sessions.data && others.length === 0 && <p className="hint">{words.noOtherSessions}</p>}
      {others.length > 0 && (
        <button type="button" className="danger" disabled={attempt.busy} onClick={() => setAsking(true)}>
          {words.endOthers}
        </button>
      )}
      {asking && <Confirm text={words.endOthersAsk} act={words.endOthers} onAct={() => end(endOtherSessions)} onCancel={() => setAsking(false)} />}
    </Section>
  );
}

function SignIn({ one, busy, end }: { one: SignedInOn; busy: boolean; end(): void }) {
  const words = useWords();
  const locale = useStore(language);
  const name = deviceName(one.user_agent, words);
  return (
    <li data-current={one.current || undefined}>
      <span className="dot" aria-hidden="true" />
      <div>
        <p className="name" title={one.user_agent}>
          {name}
        </p>
        <p className="facts">
          <span>{one.current ? words.thisSession : words.usedAt(stamp(one.used_at, new Date(), locale))}</span>
          <span>{one.address}</span>
        </p>
      </div>
      {!one.current && (
        <button type="button" className="quiet bad" disabled={busy} aria-label={words.endSession(name)} onClick={end}>
          {words.signOut}
        </button>
      )}
    </li>
  );
}
