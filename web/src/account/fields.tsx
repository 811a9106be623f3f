import { useEffect, useId, useRef, type FormEvent, type ReactNode } from 'react';
import type { Proof } from '../api/types.ts';
import { useWords } from '../i18n/index.ts';
import { clock } from './errors.ts';
import type { Attempt } from './useAttempt.ts';

/** A form whose problem is said once, above the button that tries it again. */
export function Form({ attempt, act, danger, onSubmit, onCancel, children, beside }: {
  attempt: Attempt;
  act: string;
  danger?: boolean | undefined;
  onSubmit(form: FormData): void;
  /** Gives the form up; Esc does it too, and closes nothing else then. */
  onCancel?(): void;
  children: ReactNode;
  beside?: ReactNode;
}) {
  const words = useWords();
  const problem = useId();
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    // What was wrong is most likely the secret: typing replaces it.
    if (!attempt.problem) return;
    const secret = form.current?.querySelector<HTMLInputElement>('.one-time, [type=password]');
    secret?.focus();
    secret?.select();
  }, [attempt.problem]);
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    if (!attempt.busy && attempt.rest === 0) onSubmit(new FormData(event.currentTarget));
  }
  return (
    <form
      ref={form}
      onSubmit={submit}
      aria-describedby={attempt.problem ? problem : undefined}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !onCancel) return;
        event.preventDefault();
        onCancel();
      }}
    >
      {children}
      {attempt.problem && (
        <p id={problem} role="alert" className="problem">
          {attempt.problem}
        </p>
      )}
      <div className="flex-row">
        <button type="submit" className={danger ? 'danger' : 'primary'} disabled={attempt.busy || attempt.rest > 0}>
          {attempt.rest > 0 ? words.again(clock(attempt.rest)) : act}
        </button>
        {onCancel && (
          <button type="button" onClick={onCancel}>
            {words.cancel}
          </button>
        )}
        {beside}
      </div>
    </form>
  );
}

export function EmailField({ value }: { value?: string }) {
  const words = useWords();
  return (
    <label>
      <span>{words.email}</span>
      <input name="email" type="email" autoComplete="username" required autoFocus defaultValue={value} />
    </label>
  );
}

export function PasswordField({ name, label, isNew, focus, optional }: {
  name: string;
  label: string;
  isNew?: boolean;
  focus?: boolean;
  optional?: boolean | undefined;
}) {
  const words = useWords();
  const note = isNew ? words.passwordRule : optional ? words.passwordIfAny : '';
  return (
    <label>
      <span>{label}</span>
      <input
        name={name}
        type="password"
        autoComplete={isNew ? 'new-password' : 'current-password'}
        minLength={isNew ? 8 : undefined}
        required={!optional}
        autoFocus={focus}
      />
      {note && <small>{note}</small>}
    </label>
  );
}

/** The field for the word that the program printed when it started: its first account asks for it. */
export function SetupField({ value, onChange }: { value: string; onChange(next: string): void }) {
  const words = useWords();
  return (
    <label>
      <span>{words.setupWord}</span>
      <input name="setup" className="one-time" autoComplete="off" autoCapitalize="none" spellCheck={false} required value={value} onChange={(event) => onChange(event.target.value)} />
      <small>{words.setupWordHint}</small>
    </label>
  );
}

/** The field for six digits of the authenticator, or for a recovery code. */
export function ProofField({ recovery }: { recovery: boolean }) {
  const words = useWords();
  return recovery ? (
    <label key="recovery">
      <span>{words.factorRecovery}</span>
      <input name="proof" className="one-time" autoComplete="off" autoCapitalize="characters" spellCheck={false} required autoFocus />
    </label>
  ) : (
    <label key="code">
      <span>{words.factorCode}</span>
      <input name="proof" className="one-time" autoComplete="one-time-code" inputMode="numeric" pattern="\s*([0-9]\s*){6}" maxLength={12} required autoFocus />
    </label>
  );
}

export function proofOf(form: FormData, recovery: boolean): Proof {
  const shown = String(form.get('proof')).trim();
  return recovery ? { recovery_code: shown } : { code: shown.replace(/\s/g, '') };
}
