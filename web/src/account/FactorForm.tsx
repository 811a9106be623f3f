import { useState } from 'react';
import { Failure } from '../api/failure.ts';
import { proveTicket } from '../api/session.ts';
import { useWords } from '../i18n/index.ts';
import { Form, proofOf, ProofField } from './fields.tsx';
import { accountSentence } from './errors.ts';
import { useAttempt } from './useAttempt.ts';

interface Props {
  ticket: string;
  onIn(): void;
  /** Back to the beginning; with a sentence when this sign-in has waited too long. */
  onBack(problem: string): void;
}

/** Asks for the second factor of a sign-in whose first was right (AUTH-13, AUTH-15). */
export function FactorForm({ ticket, onIn, onBack }: Props) {
  const words = useWords();
  const [recovery, setRecovery] = useState(false);
  // Codes and recovery codes are locked apart: one way may wait while the other is open.
  const ways = { code: useAttempt(), recovery: useAttempt() };
  const attempt = recovery ? ways.recovery : ways.code;

  const show = (form: FormData) =>
    void attempt.go(async () => {
      try {
        await proveTicket(ticket, proofOf(form, recovery));
        onIn();
      } catch (error) {
        if (error instanceof Failure && error.detail('reason') === 'ticket_unknown') return onBack(accountSentence(error));
        throw error;
      }
    });

  return (
    <>
      <p className="lead">{recovery ? words.factorRecoveryAsk : words.factorCodeAsk}</p>
      <Form attempt={attempt} act={words.proceed} onSubmit={show}>
        <ProofField recovery={recovery} />
      </Form>
      <p className="other-way">
        <button type="button" className="link" onClick={() => setRecovery(!recovery)}>
          {recovery ? words.useCode : words.useRecovery}
        </button>
        <button type="button" className="link" onClick={() => onBack('')}>
          {words.backToSignIn}
        </button>
      </p>
    </>
  );
}
