import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import type { Interrupt } from '../api/types.ts';
import { useWords } from '../i18n/index.ts';
import { isPlain } from '../forms/schema.ts';
import { Icon, type IconName } from '../shell/Icon.tsx';
import { answer, notice } from './commands.ts';
import { isChoice, unadorned } from './thread.ts';

const SchemaForm = lazy(async () => ({ default: (await import('../forms/SchemaForm.tsx')).SchemaForm })); // few questions are forms

/** Whether a question is answered by the program that began the run, and here only skipped. */
export function waitsForProgram(interrupt: Interrupt): boolean {
  return interrupt.interrupt_type === 'client_call';
}

/** Whether a question takes words of one's own; a type not known to us does, unless it asks for more than words. */
export function takesWords(interrupt: Interrupt): boolean {
  return !waitsForProgram(interrupt) && !takesForm(interrupt) && (!isChoice(interrupt.interrupt_type) || !interrupt.options?.length);
}

/** Whether a question is a form. */
export function takesForm(interrupt: Interrupt): boolean {
  return !waitsForProgram(interrupt) && !interrupt.options?.length && !isPlain(interrupt.answer_schema);
}

/** The question that holds the run, above the box. With several open, one at a time. */
export function QuestionCard({ asked, at, onNext }: { asked: Interrupt[]; at: number; onNext(): void }) {
  const words = useWords();
  const current = asked[at]!;
  const needs = waitsForProgram(current) ? words.needsProgram : words.needsAnswer;
  return (
    <section className="slip" aria-label={needs} data-type={current.interrupt_type}>
      <div className="slip-head">
        <span className="dot wait" aria-hidden="true" />
        <span>{needs}</span>
        {asked.length > 1 && (
          <>
            <span className="count">{words.questionOf(at + 1, asked.length)}</span>
            <button type="button" className="icon-button" aria-label={words.nextQuestion} title={words.nextQuestion} onClick={onNext}>
              <Icon name="right" />
            </button>
          </>
        )}
      </div>
      <Question key={current.interrupt_id} interrupt={current} />
    </section>
  );
}

/** The id of an option that says that none of the others is meant. It is an answer, which skipping a question is not. */
const none = 'none';

interface Choice {
  label: string;
  value: string | boolean;
  icon?: IconName;
}

/** Documents look like documents, and so do the ways to more of them. */
function iconOf(interrupt: Interrupt, id: string): { icon?: IconName } {
  if (interrupt.interrupt_type === 'doc_choice' && id !== 'all' && id !== none) return { icon: 'document' };
  if (interrupt.interrupt_type !== 'retrieval_low') return {};
  if (id === 'tag_docs') return { icon: 'document' };
  return id === 'web_search' ? { icon: 'globe' } : {};
}

function choicesOf(interrupt: Interrupt, yes: string, no: string): Choice[] {
  if (interrupt.options?.length) return interrupt.options.map((option) => ({ label: unadorned(option.label), value: option.id, ...iconOf(interrupt, option.id) }));
  if (interrupt.answer_schema?.type === 'boolean') {
    return [
      { label: yes, value: true },
      { label: no, value: false },
    ];
  }
  return [];
}

function Question({ interrupt }: { interrupt: Interrupt }) {
  const words = useWords();
  const [busy, setBusy] = useState(false);
  const pressed = useRef(false);
  const first = useRef<HTMLButtonElement>(null);
  const offered = choicesOf(interrupt, words.yes, words.no);

  function settle(value: string | boolean | null, shown: string | null) {
    if (pressed.current) return; // a second click in the same moment, before the buttons lock (UI-23)
    pressed.current = true;
    setBusy(true);
    void answer(interrupt, value, shown).finally(() => {
      pressed.current = false;
      setBusy(false);
    });
  }

  useEffect(() => {
    if (takesForm(interrupt)) return; // it has fields of its own
    if (offered.length > 0) first.current?.focus({ preventScroll: true });
    else document.getElementById('message')?.focus({ preventScroll: true });
    // Once, when the question appears: later the focus is the reader's.
    // oxlint-disable-next-line react/exhaustive-deps
  }, []);

  useDigits((digit) => {
    const choice = offered[digit - 1];
    if (choice) settle(choice.value, choice.label);
  });

  const wayOut = offered.find((choice) => choice.value === none);
  const skip = (
    <button type="button" className="quiet" disabled={busy} onClick={() => (wayOut ? settle(wayOut.value, wayOut.label) : settle(null, null))}>
      {words.skipQuestion}
    </button>
  );
  if (takesForm(interrupt)) {
    return (
      <>
        <p className="question">{interrupt.message}</p>
        <Suspense fallback={<p className="hint">{words.loadingPage}</p>}>
          <SchemaForm
            id={interrupt.interrupt_id}
            schema={interrupt.answer_schema!}
            label={interrupt.message}
            busy={busy}
            focus
            beside={skip}
            onAnswer={async (value, shown, fields) => {
              if (pressed.current) return {};
              pressed.current = true;
              setBusy(true);
              const left = await answer(interrupt, value, shown);
              pressed.current = false;
              setBusy(false);
              if (left.settled) return null;
              const { wrongOf } = await import('../forms/answer.ts');
              const wrong = wrongOf(fields, left.details);
              if (Object.keys(wrong).length > 0) notice(interrupt.conversation_id, ''); // it is said at the fields
              return wrong;
            }}
          />
        </Suspense>
      </>
    );
  }
  return (
    <>
      <p className="question">{interrupt.message}</p>
      <div className="options">
        {offered.map((choice, index) => (
          <button
            key={String(choice.value)}
            ref={index === 0 ? first : undefined}
            type="button"
            disabled={busy}
            aria-keyshortcuts={index < 9 ? String(index + 1) : undefined}
            onClick={() => settle(choice.value, choice.label)}
          >
            {choice.icon && <Icon name={choice.icon} />}
            <span>{choice.label}</span>
            {index < 9 && <kbd aria-hidden="true">{index + 1}</kbd>}
          </button>
        ))}
        {skip}
      </div>
    </>
  );
}

/** Digits pick an option, unless they are being typed somewhere. */
function useDigits(pick: (digit: number) => void) {
  const latest = useRef(pick);
  useEffect(() => {
    latest.current = pick;
  });
  useEffect(() => {
    function press(event: KeyboardEvent) {
      const typing = event.target instanceof Element && event.target.closest('input, textarea, select, [contenteditable], dialog');
      if (typing || event.ctrlKey || event.metaKey || event.altKey || !/^[1-9]$/.test(event.key)) return;
      event.preventDefault();
      latest.current(Number(event.key));
    }
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, []);
}
