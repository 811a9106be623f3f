import { useState, type ReactNode } from 'react';
import { arrival, leaveArrival } from '../account/arrival.ts';
import { SignedOutPage } from '../account/SignedOutPage.tsx';
import { ProviderButtons } from '../account/ProviderButtons.tsx';
import { EmailField, Form, PasswordField, SetupField } from '../account/fields.tsx';
import { FactorForm } from '../account/FactorForm.tsx';
import { MailForm, Resend } from '../account/MailForm.tsx';
import { accountSentence } from '../account/errors.ts';
import { useAttempt } from '../account/useAttempt.ts';
import { requestConfirmation, requestReset } from '../api/account.ts';
import { Failure } from '../api/failure.ts';
import { useUIConfig } from '../api/queries.ts';
import { asksForSetup, signIn, signUp, ticketOf } from '../api/session.ts';
import { useWords } from '../i18n/index.ts';
import { useStore } from '../lib/store.ts';

type Stage =
  | { at: 'in' | 'up' } // the two ways through the door
  | { at: 'forgot' }
  | { at: 'confirm'; late: boolean } // a mail has to be read first; late: its day is over
  | { at: 'factor'; ticket: string };

/** The door: signing in, making an account, and what may stand between a person and theirs. */
export function SignIn() {
  const words = useWords();
  const config = useUIConfig();
  const came = useStore(arrival);
  const firstRun = config.data?.first_run === true;
  const [chosen, setChosen] = useState<Stage | null>(null);
  const [email, setEmail] = useState('');
  const [tenant, setTenant] = useState(() => new URLSearchParams(location.search).get('tenant') ?? ''); // a company's own link names it
  const [setup, setSetup] = useState('');
  const [asked, setAsked] = useState(false); // for the setup word, by the server's refusal
  const [problem, setProblem] = useState('');
  const ticket = came?.kind === 'factor' ? came.ticket : '';
  const stage: Stage = ticket ? { at: 'factor', ticket } : (chosen ?? { at: firstRun ? 'up' : 'in' });

  function go(next: Stage, sentence = ''): void {
    leaveArrival();
    setProblem(sentence);
    setChosen(next);
  }

  function begin(address: string): void {
    leaveArrival();
    setEmail(address);
    setProblem('');
  }

  switch (stage.at) {
    case 'factor':
      return (
        <SignedOutPage title={words.factorTitle}>
          <FactorForm ticket={stage.ticket} onIn={leaveArrival} onBack={(why) => go({ at: 'in' }, why)} />
        </SignedOutPage>
      );
    case 'forgot':
      return (
        <SignedOutPage title={words.forgotTitle}>
          <MailForm lead={words.forgotAsk} email={email} act={words.sendLink} ask={requestReset} sent={words.resetSent} />
          <Back act={() => go({ at: 'in' })} />
        </SignedOutPage>
      );
    case 'confirm':
      return (
        <SignedOutPage title={words.mailUnderWay}>
          <p role="status" className="lead">
            {stage.late ? words.unverifiedLate : words.confirmSent(email)}
          </p>
          <Back act={() => go({ at: 'in' })}>
            <Resend email={email} ask={requestConfirmation} />
          </Back>
        </SignedOutPage>
      );
    default: {
      // Which form it is, the server knows: one that changed under a person's
      // hands would sign in who meant to make an account, and lose their words.
      if (config.isPending && config.failureCount === 0) return null;
      const first = firstRun && stage.at === 'up';
      const needed = first && (asked || config.data?.setup_word_needed === true);
      const refused = came?.kind === 'refused' ? words.elsewhereFailed : '';
      return (
        <SignedOutPage title={first ? words.firstRunTitle : stage.at === 'up' ? words.signUp : words.signIn}>
          {first && <p className="lead">{words.firstRun}</p>}
          {config.isError && <p role="alert">{accountSentence(config.error)}</p>}
          {(problem || refused) && (
            <p role="alert" className="problem lead">
              {problem || refused}
            </p>
          )}
          <Credentials key={stage.at} mode={stage.at} email={email} tenant={tenant} setup={setup} onTry={begin} onStage={go} onSetup={() => setAsked(true)}>
            {needed && <SetupField value={setup} onChange={setSetup} />}
          </Credentials>
          <ProviderButtons tenant={tenant} setup={setup} onSetup={() => setAsked(true)} />
          <div className="other-way">
            {(stage.at === 'up' || config.data?.sign_up !== false) && (
              <span>
                {stage.at === 'in' ? words.noAccount : words.haveAccount}{' '}
                <button type="button" className="link" onClick={() => go({ at: stage.at === 'in' ? 'up' : 'in' })}>
                  {stage.at === 'in' ? words.signUp : words.signInInstead}
                </button>
              </span>
            )}
            <Tenant value={tenant} onChange={setTenant} />
          </div>
        </SignedOutPage>
      );
    }
  }
}

function Back({ act, children }: { act(): void; children?: ReactNode }) {
  const words = useWords();
  return (
    <p className="other-way">
      {children}
      <button type="button" className="link" onClick={act}>
        {words.backToSignIn}
      </button>
    </p>
  );
}

/** Folded away: on most servers there is one tenant, and nobody needs to name it. */
function Tenant({ value, onChange }: { value: string; onChange(next: string): void }) {
  const words = useWords();
  const [first] = useState(value);
  return (
    <details className="tenant" open={first !== ''}>
      <summary>{words.tenant}</summary>
      <input value={value} aria-label={words.tenant} placeholder={words.tenantHint} autoComplete="organization" spellCheck={false} onChange={(event) => onChange(event.target.value)} />
    </details>
  );
}

interface CredentialsProps {
  mode: 'in' | 'up';
  email: string;
  tenant: string;
  setup: string;
  onTry(email: string): void;
  onStage(next: Stage): void;
  /** The server asks for the setup word. */
  onSetup(): void;
  children: ReactNode;
}

function Credentials({ mode, email, tenant, setup, onTry, onStage, onSetup, children }: CredentialsProps) {
  const words = useWords();
  const attempt = useAttempt();

  const submit = (form: FormData) =>
    void attempt.go(async () => {
      const [address, password] = [String(form.get('email')), String(form.get('password'))];
      onTry(address);
      try {
        if (mode === 'in') await signIn(address, password, tenant);
        else if (!(await signUp(address, password, tenant, setup))) onStage({ at: 'confirm', late: false });
      } catch (error) {
        const ticket = ticketOf(error);
        if (asksForSetup(error)) onSetup();
        if (ticket) return onStage({ at: 'factor', ticket });
        if (error instanceof Failure && error.detail('reason') === 'unverified') return onStage({ at: 'confirm', late: true });
        // Whatever it was, a refusal here tells no more than this.
        if (mode === 'in' && error instanceof Failure && error.status === 401) throw new Failure(401, error.code, words.credentialsWrong);
        throw error;
      }
    });

  return (
    <Form
      attempt={attempt}
      act={mode === 'in' ? words.signIn : words.signUp}
      onSubmit={submit}
      beside={
        mode === 'in' && (
          <button
            type="button"
            className="link"
            onClick={(event) => {
              onTry(String(new FormData(event.currentTarget.form!).get('email')));
              onStage({ at: 'forgot' });
            }}
          >
            {words.forgot}
          </button>
        )
      }
    >
      <EmailField value={email} />
      <PasswordField name="password" label={words.password} isNew={mode === 'up'} />
      {children}
    </Form>
  );
}
