import { useState } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import { accountKeys, changePassword, leaveFor, unlink, useLinks, useProviders } from '../api/account.ts';
import { session } from '../api/session.ts';
import { useWords } from '../i18n/index.ts';
import { useStore } from '../lib/store.ts';
import { FactorSection } from './FactorSection.tsx';
import { Form, PasswordField } from './fields.tsx';
import { Section } from './Section.tsx';
import { SessionsSection } from './SessionsSection.tsx';
import { useAttempt } from './useAttempt.ts';

/** What keeps an account its owner's: the second factor, the password, the sign-ins. */
export function SecuritySections() {
  return (
    <div className="security">
      <FactorSection />
      <PasswordSection />
      <LinksSection />
      <SessionsSection />
    </div>
  );
}

function PasswordSection() {
  const words = useWords();
  const { user } = useStore(session);
  const client = useQueryClient();
  const attempt = useAttempt();
  const [open, setOpen] = useState(false);
  const [done, setDone] = useState(false);

  const submit = (form: FormData) =>
    void attempt.go(async () => {
      await changePassword(String(form.get('old')), String(form.get('new')));
      setOpen(false);
      setDone(true);
      void client.invalidateQueries({ queryKey: accountKeys.sessions });
    });

  return (
    <Section title={words.password} stage={open ? 'form' : 'rest'}>
      {open ? (
        <Form attempt={attempt} act={words.changePassword} onSubmit={submit} onCancel={() => setOpen(false)}>
          {/* Tells a password store whose password this is. */}
          <input type="text" name="username" autoComplete="username" value={user?.email ?? ''} readOnly hidden />
          <PasswordField name="old" label={words.oldPassword} focus />
          <PasswordField name="new" label={words.newPassword} isNew />
          <p className="hint">{words.passwordMeans}</p>
        </Form>
      ) : (
        <>
          <p role="status" className="hint">
            {done && words.passwordChanged}
          </p>
          <button
            type="button"
            onClick={() => {
              attempt.clear();
              setDone(false);
              setOpen(true);
            }}
          >
            {words.changePassword}
          </button>
        </>
      )}
    </Section>
  );
}

/** Accounts elsewhere that sign in to this one; nothing where there is no provider. */
function LinksSection() {
  const words = useWords();
  const client = useQueryClient();
  const providers = useProviders();
  const links = useLinks();
  const attempt = useAttempt();
  const linked = links.data ?? [];
  const label = (name: string) => providers.data?.find((one) => one.name === name)?.label ?? name;
  const open = (providers.data ?? []).filter((one) => !linked.some((link) => link.provider === one.name));
  if (linked.length === 0 && open.length === 0) return null;

  const take = (provider: string) =>
    void attempt.go(async () => {
      await unlink(provider);
      await client.invalidateQueries({ queryKey: accountKeys.links });
    });

  return (
    <Section title={words.elsewhere} stage={linked.map((one) => one.provider).join()}>
      <ul className="sign-ins">
        {linked.map((one) => (
          <li key={one.provider}>
            <span className="dot" aria-hidden="true" />
            <div>
              <p className="name">{label(one.provider)}</p>
              <p className="facts">{one.email || words.linked}</p>
            </div>
            <button type="button" className="quiet bad" disabled={attempt.busy} onClick={() => take(one.provider)}>
              {words.unlink(label(one.provider))}
            </button>
          </li>
        ))}
      </ul>
      {attempt.problem && (
        <p role="alert" className="problem">
          {attempt.problem}
        </p>
      )}
      <div className="flex-row">
        {open.map((one) => (
          <button key={one.name} type="button" disabled={attempt.busy} onClick={() => void attempt.go(() => leaveFor(one.name))}>
            {words.link(one.label)}
          </button>
        ))}
      </div>
    </Section>
  );
}
