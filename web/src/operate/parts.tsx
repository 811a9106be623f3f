// Small pieces several pages of Operate are made of.

import { useEffect, useId, useLayoutEffect, useRef, useState, type ReactNode } from 'react';
import { Link } from 'wouter';
import { useAttempt } from '../account/useAttempt.ts';
import { session } from '../api/session.ts';
import { language, useWords } from '../i18n/index.ts';
import { useStore } from '../lib/store.ts';
import { Icon } from '../shell/Icon.tsx';
import { age, when } from './figures.ts';

export function useAdmin(): boolean {
  return useStore(session).user?.role === 'admin';
}

interface CardProps {
  title: string;
  extra?: ReactNode; // beside the title
  note?: ReactNode; // after it, in small
  className?: string;
  children: ReactNode;
}

/** One subject of a page. */
export function Card({ title, extra, note, className, children }: CardProps) {
  const id = useId();
  return (
    <section className={className ? `panel card ${className}` : 'panel card'} aria-labelledby={id}>
      <div className="card-head">
        <h2 id={id}>
          {title}
          {note && <small> {note}</small>}
        </h2>
        {extra}
      </div>
      {children}
    </section>
  );
}

/** How long ago something was; the whole time is in its title. */
export function Ago({ time }: { time: string }) {
  const locale = useStore(language);
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 30_000);
    return () => clearInterval(timer);
  }, []);
  return (
    <time dateTime={time} title={when(time, locale)}>
      {age(time, now, locale)}
    </time>
  );
}

export function TemporalLink({ href }: { href: string | null | undefined }) {
  const words = useWords();
  if (!href) return null;
  return (
    <a className="out" href={href} target="_blank" rel="noopener noreferrer" title={words.inTemporalTitle}>
      {words.inTemporal}
      <Icon name="out" />
    </a>
  );
}

/** The page has nothing to show, and why. */
export function Trouble({ text, retry, back, backText }: { text: string; retry?: () => void; back: string; backText: string }) {
  const words = useWords();
  return (
    <div className="load-problem">
      <p role="alert">{text}</p>
      <div className="flex-row">
        {retry && (
          <button type="button" onClick={retry}>
            {words.tryAgain}
          </button>
        )}
        <Link href={back}>{backText}</Link>
      </div>
    </div>
  );
}

export function Loading() {
  return (
    <div className="skeleton" aria-hidden="true">
      <i />
      <i />
      <i />
    </div>
  );
}

interface ChoiceProps<T extends string> {
  label: string;
  options: readonly (readonly [T, string])[];
  value: T;
  onChoose(value: T): void;
}

/** A few ways to look at the same thing, one of them taken. */
export function Pills<T extends string>({ label, options, value, onChoose }: ChoiceProps<T>) {
  return (
    <div className="pills" role="group" aria-label={label}>
      {options.map(([one, text]) => (
        <button key={one} type="button" aria-pressed={one === value} onClick={() => onChoose(one)}>
          {text}
        </button>
      ))}
    </div>
  );
}

interface DialogProps {
  title: string;
  act: string;
  danger?: boolean;
  onClose(): void;
  /** Does it; a refusal is told here, and the dialog stays. */
  onAct(form: FormData): Promise<unknown>;
  children: ReactNode;
}

/** Asks for what an act needs. Esc closes it, and the focus goes back to its button. */
export function ActDialog({ title, act, danger, onClose, onAct, children }: DialogProps) {
  const words = useWords();
  const dialog = useRef<HTMLDialogElement>(null);
  const attempt = useAttempt();
  const id = useId();
  // Closed before it is taken away, so that the focus goes back by itself.
  useLayoutEffect(() => {
    const box = dialog.current;
    if (box && !box.open) box.showModal();
    return () => box?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      className="confirm deed"
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const form = new FormData(event.currentTarget);
          void attempt.go(() => onAct(form));
        }}
      >
        <h2 id={id}>{title}</h2>
        {children}
        {attempt.problem && (
          <p role="alert" className="problem">
            {attempt.problem}
          </p>
        )}
        <div className="flex-row">
          <button type="submit" className={danger ? 'danger' : 'primary'} disabled={attempt.busy || attempt.rest > 0}>
            {act}
          </button>
          <button type="button" onClick={onClose}>
            {words.cancel}
          </button>
        </div>
      </form>
    </dialog>
  );
}
