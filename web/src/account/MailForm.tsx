import { useState } from 'react';
import { useWords } from '../i18n/index.ts';
import { EmailField, Form } from './fields.tsx';
import { useAttempt } from './useAttempt.ts';

interface Props {
  lead: string;
  /** Why the link before this one did not do. */
  problem?: string;
  email?: string;
  act: string;
  ask(email: string): Promise<unknown>;
  /** What is said then; it must not tell whether there is an account (AUTH-08). */
  sent(email: string): string;
}

/** Asks for a mail with a link. */
export function MailForm({ lead, problem, email, act, ask, sent }: Props) {
  const attempt = useAttempt();
  const [to, setTo] = useState('');
  if (to) {
    return (
      <p role="status" className="lead">
        {sent(to)}
      </p>
    );
  }
  return (
    <>
      <p className="lead" role={problem ? 'alert' : undefined}>
        {problem || lead}
      </p>
      <Form
        attempt={attempt}
        act={act}
        onSubmit={(form) => {
          const address = String(form.get('email')).trim();
          void attempt.go(async () => {
            await ask(address);
            setTo(address);
          });
        }}
      >
        <EmailField value={email ?? ''} />
      </Form>
    </>
  );
}

/** Sends a mail to a known address once more. */
export function Resend({ email, ask }: { email: string; ask(email: string): Promise<unknown> }) {
  const words = useWords();
  const attempt = useAttempt();
  const [sent, setSent] = useState(false);
  return (
    <span className="resend">
      {!sent && (
        <button
          type="button"
          className="link"
          disabled={attempt.busy || attempt.rest > 0}
          onClick={() => void attempt.go(() => ask(email)).then((well) => setSent(well))}
        >
          {words.sendAgain}
        </button>
      )}
      <span role="status">{sent ? words.sentAgain : attempt.problem}</span>
    </span>
  );
}
