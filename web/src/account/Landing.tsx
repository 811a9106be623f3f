import { useEffect, useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { completeReset, confirmAddress, requestConfirmation, requestReset } from '../api/account.ts';
import { Failure } from '../api/failure.ts';
import { lookAgain, session } from '../api/session.ts';
import { useWords } from '../i18n/index.ts';
import { useStore } from '../lib/store.ts';
import { leaveArrival, type Arrival } from './arrival.ts';
import { SignedOutPage } from './SignedOutPage.tsx';
import { Form, PasswordField } from './fields.tsx';
import { MailForm } from './MailForm.tsx';
import { accountSentence } from './errors.ts';
import { useAttempt } from './useAttempt.ts';

type Came = Extract<Arrival, { kind: 'reset' | 'confirm' }>;

/** Where the links of mails lead. */
export function Landing({ came }: { came: Came }) {
  return came.kind === 'reset' ? <Reset key={came.token} token={came.token} /> : <Confirm key={came.token} token={came.token} />;
}

/** A new password by the link of a mail (AUTH-09). */
function Reset({ token }: { token: string }) {
  const words = useWords();
  const attempt = useAttempt();
  const [stage, setStage] = useState<'ask' | 'spent' | 'done'>(token ? 'ask' : 'spent');

  const submit = (form: FormData) =>
    void attempt.go(async () => {
      try {
        await completeReset(token, String(form.get('password')));
        setStage('done');
      } catch (error) {
        if (!(error instanceof Failure) || error.detail('field') !== 'token') throw error;
        setStage('spent');
      }
    });

  if (stage === 'done') {
    return (
      <SignedOutPage title={words.forgotTitle}>
        <p role="status" className="lead">
          {words.resetDone}
        </p>
        <button type="button" className="primary" autoFocus onClick={leaveArrival}>
          {words.signIn}
        </button>
      </SignedOutPage>
    );
  }
  return (
    <SignedOutPage title={words.forgotTitle}>
      {stage === 'ask' ? (
        <>
          <p className="lead">{words.resetMeans}</p>
          <Form attempt={attempt} act={words.setPassword} onSubmit={submit}>
            <PasswordField name="password" label={words.newPassword} isNew focus />
          </Form>
        </>
      ) : (
        <MailForm
          lead={words.forgotAsk}
          problem={token ? words.linkSpent : words.linkBroken}
          act={words.sendLink}
          ask={requestReset}
          sent={words.resetSent}
        />
      )}
      <Back />
    </SignedOutPage>
  );
}

function Back() {
  const words = useWords();
  const { state } = useStore(session);
  return (
    <p className="other-way">
      <button type="button" className="link" onClick={leaveArrival}>
        {state === 'in' ? words.toConversations : words.backToSignIn}
      </button>
    </p>
  );
}

/** Confirms an address by the link of a mail (AUTH-10): following it is all a person has to do. */
function Confirm({ token }: { token: string }) {
  const words = useWords();
  const { state } = useStore(session);
  const answer = useQuery({
    queryKey: ['confirm', token],
    queryFn: () => confirmAddress(token),
    enabled: token !== '',
    staleTime: Infinity, // good once
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
  useEffect(() => {
    if (answer.isSuccess) void lookAgain();
  }, [answer.isSuccess]);

  if (answer.isSuccess) {
    return (
      <SignedOutPage title={words.confirmed}>
        <p role="status" className="lead">
          {state === 'in' ? words.confirmedGoOn : words.confirmedSignIn}
        </p>
        <button type="button" className="primary" autoFocus onClick={leaveArrival}>
          {state === 'in' ? words.toConversations : words.signIn}
        </button>
      </SignedOutPage>
    );
  }
  const broken = token === '' ? words.linkBroken : answer.isError ? accountSentence(answer.error) : '';
  return (
    <SignedOutPage title={words.confirmTitle}>
      {broken ? (
        <>
          <MailForm lead={words.confirmAsk} problem={broken} act={words.sendAgain} ask={requestConfirmation} sent={words.confirmAsked} />
          <Back />
        </>
      ) : (
        <p role="status" className="lead">
          {words.confirming}
        </p>
      )}
    </SignedOutPage>
  );
}
