import { useState, type FormEvent } from 'react';
import { useUIConfig } from '../api/queries.ts';
import { signIn, signUp } from '../api/session.ts';
import { sentence } from '../chat/talk.ts';
import { useWords } from '../i18n/index.ts';
import { LanguageSwitch } from './LanguageSwitch.tsx';
import { Mark } from './Mark.tsx';

/** The door: signing in, and making an account; the first one ever administers the house. */
export function SignIn() {
  const words = useWords();
  const config = useUIConfig();
  const firstRun = config.data?.first_run === true;
  const [chosen, setChosen] = useState<'in' | 'up' | null>(null);
  const mode = chosen ?? (firstRun ? 'up' : 'in');
  const first = firstRun && mode === 'up';
  return (
    <main className="door">
      <header>
        <Mark />
        <h1>Liminal</h1>
        <p>{words.tagline}</p>
      </header>
      <section className="panel">
        <h2>{first ? words.firstRunTitle : mode === 'up' ? words.signUp : words.signIn}</h2>
        {first && <p className="first-run">{words.firstRun}</p>}
        {config.isError && <p role="alert">{sentence(config.error)}</p>}
        <Credentials key={mode} mode={mode} />
        <p className="other-way">
          {mode === 'in' ? words.noAccount : words.haveAccount}{' '}
          <button type="button" className="link" onClick={() => setChosen(mode === 'in' ? 'up' : 'in')}>
            {mode === 'in' ? words.signUp : words.signInInstead}
          </button>
        </p>
      </section>
      <LanguageSwitch />
    </main>
  );
}

function Credentials({ mode }: { mode: 'in' | 'up' }) {
  const words = useWords();
  const [problem, setProblem] = useState('');
  const [busy, setBusy] = useState(false);

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    setBusy(true);
    setProblem('');
    try {
      await (mode === 'in' ? signIn : signUp)(String(form.get('email')), String(form.get('password')));
    } catch (error) {
      setProblem(sentence(error));
      setBusy(false);
    }
  }

  return (
    <form onSubmit={(event) => void submit(event)} aria-describedby={problem ? 'door-problem' : undefined}>
      <label>
        <span>{words.email}</span>
        {/* The page has this one purpose, so it begins there. */}
        <input name="email" type="email" autoComplete="username" required autoFocus />
      </label>
      <label>
        <span>{words.password}</span>
        <input
          name="password"
          type="password"
          autoComplete={mode === 'in' ? 'current-password' : 'new-password'}
          minLength={mode === 'up' ? 8 : undefined}
          required
        />
        {mode === 'up' && <small>{words.passwordRule}</small>}
      </label>
      {problem && (
        <p id="door-problem" role="alert" className="problem">
          {problem}
        </p>
      )}
      <button type="submit" className="primary" disabled={busy}>
        {mode === 'in' ? words.signIn : words.signUp}
      </button>
    </form>
  );
}
