import { useState } from 'react';
import { useFactor } from '../api/account.ts';
import { askingIn, decideConsent, leadsOut, useConsent, type Asking, type Consent } from '../api/consent.ts';
import { session, signOut } from '../api/session.ts';
import { accountSentence } from '../account/errors.ts';
import { Form, ProofField, proofOf } from '../account/fields.tsx';
import { SignedOutPage } from '../account/SignedOutPage.tsx';
import { useAttempt } from '../account/useAttempt.ts';
import { useWords } from '../i18n/index.ts';
import type { Scope } from '../keys/scopes.ts';
import { useKeyWords } from '../keys/words.ts';
import { useStore } from '../lib/store.ts';
import { useConsentWords } from './words.ts';
import './consent.css';

/** Where a person lets a program in that sent them here, or refuses it (docs/mcp.md). */
export default function ConsentPage({ leave = (to: string) => location.assign(to) }: { leave?(to: string): void }) {
  const words = useConsentWords();
  const [asking] = useState(() => askingIn(location.search));
  const [gone, setGone] = useState(false);
  const consent = useConsent(asking);
  if (gone) {
    return (
      <SignedOutPage title={words.title}>
        <p role="status" className="lead">
          {words.gone}
        </p>
      </SignedOutPage>
    );
  }
  if (consent.isError) {
    return (
      <SignedOutPage title={words.impossible}>
        <p role="alert" className="lead problem">
          {accountSentence(consent.error)}
        </p>
        <p className="hint">{words.nothing}</p>
      </SignedOutPage>
    );
  }
  return (
    <SignedOutPage title={words.title}>
      {consent.data ? (
        <Decide
          asking={asking}
          consent={consent.data}
          onDecided={(to) => {
            setGone(true);
            leave(to);
          }}
        />
      ) : (
        <p role="status" className="lead">
          {words.reading}
        </p>
      )}
    </SignedOutPage>
  );
}

function Decide({ asking, consent, onDecided }: { asking: Asking; consent: Consent; onDecided(to: string): void }) {
  const words = useConsentWords();
  const keys = useKeyWords();
  const common = useWords();
  const { user } = useStore(session);
  const factor = useFactor();
  const attempt = useAttempt();
  const [recovery, setRecovery] = useState(false);
  const scopes = consent.scopes.filter((scope) => scope !== 'mcp') as Scope[]; // which is the door itself

  const decide = (decision: Parameters<typeof decideConsent>[1]) =>
    void attempt.go(async () => {
      const to = await decideConsent(asking, decision);
      if (!leadsOut(to)) throw new Error(words.badWay);
      onDecided(to);
    });

  return (
    <div className="consent">
      <p className="lead">{consent.client_name ? words.wants(consent.client_name) : words.nameless}</p>
      <dl>
        <dt>{words.back}</dt>
        <dd>{words[consent.redirect_kind](consent.redirect_host)}</dd>
      </dl>
      <p className="hint">
        {words.claim} {consent.client_host ? words.vouched(consent.client_host) : words.registered}
      </p>
      <p>{words.yourself}</p>
      <Form
        attempt={attempt}
        act={words.allow}
        onSubmit={(form) =>
          decide({
            allow: true,
            scopes: ['mcp', ...scopes.filter((scope) => form.get(`scope-${scope}`))],
            ...(factor.data?.enabled ? proofOf(form, recovery) : {}),
          })
        }
        beside={
          <button type="button" disabled={attempt.busy} onClick={() => decide({ allow: false })}>
            {words.refuse}
          </button>
        }
      >
        {scopes.length > 0 && (
          <fieldset>
            <legend>{words.may}</legend>
            {scopes.map((scope) => (
              <label key={scope} className="tick">
                <input type="checkbox" name={`scope-${scope}`} defaultChecked />
                <span>
                  {keys.scope[scope][0]} <small>{keys.scope[scope][1]}</small>
                </span>
              </label>
            ))}
          </fieldset>
        )}
        <p className="hint">{words.only}</p>
        {factor.data?.enabled && (
          <>
            <p className="hint">{words.factor}</p>
            <ProofField recovery={recovery} />
          </>
        )}
      </Form>
      <p className="other-way">
        {factor.data?.enabled && (
          <button type="button" className="link" onClick={() => setRecovery(!recovery)}>
            {recovery ? common.useCode : common.useRecovery}
          </button>
        )}
        {user && <span>{words.as(user.email)}</span>}
        <button type="button" className="link" onClick={() => void signOut()}>
          {words.notYou}
        </button>
      </p>
    </div>
  );
}
