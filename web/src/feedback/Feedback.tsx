import { lazy, Suspense, useContext, useEffect, useRef, useState } from 'react';
import type { RunState } from '../chat/run.ts';
import { ChangeContext } from '../chat/change.ts';
import type { Turn } from '../chat/thread.ts';
import { session } from '../api/session.ts';
import { useWords } from '../i18n/index.ts';
import { readItem, writeItem } from '../lib/storage.ts';
import { learnable } from './read.ts';
import { removeFeedback, useStanding, type Target } from './state.ts';
import { Thumbs } from './Thumbs.tsx';

const NoteForm = lazy(async () => ({ default: (await import('./NoteForm.tsx')).NoteForm })); // asked for by a click
const FirstThumb = lazy(() => import('../learning/FirstThumb.tsx'));
const toldKey = 'liminal.learning'; // who was told last on this browser that it learns

/** What the person thinks of an answer: one press, a way back, and a note if they like. */
export function Feedback({ turn, live }: { turn: Turn; live: RunState | null }) {
  const conversation = useContext(ChangeContext)?.conversation;
  const message = live?.done?.messageID || turn.answer?.id;
  if (!conversation || !message || live?.done?.suppressed || !learnable(turn.answer)) return null;
  return <Said target={{ conversation, message }} stored={turn.answer?.feedback ?? null} />;
}

function Said({ target, stored }: { target: Target; stored: NonNullable<Turn['answer']>['feedback'] }) {
  const words = useWords();
  const [writing, setWriting] = useState(false);
  const [held, setHeld] = useState(false); // nothing goes away under a finger or the focus
  const noteButton = useRef<HTMLButtonElement>(null);
  const row = useRef<HTMLSpanElement>(null);
  const { feedback, busy, undo, problem } = useStanding(target.message, stored);
  const [first, setFirst] = useState(false);
  useEffect(() => {
    const person = session.get().user?.id ?? '';
    if (!undo || readItem('local', toldKey) === person) return;
    writeItem('local', toldKey, person);
    setFirst(true);
  }, [undo]);
  const undoing = (undo || held) && feedback !== null && !busy && !writing;

  function close() {
    setWriting(false);
    noteButton.current?.focus();
  }

  function removeNow() {
    if (!feedback) return;
    setHeld(false);
    row.current?.querySelector<HTMLButtonElement>('[data-thumb]')?.focus(); // the button is about to go
    void removeFeedback(target, feedback, false);
  }

  return (
    <>
      <span ref={row} className="feedback" data-standing={feedback ? '' : undefined}>
        <Thumbs target={target} stored={stored} />
        <span role="status">{undo && !writing ? words.feedbackNoted : ''}</span>
        {undoing && (
          <button type="button" className="deed-link" onClick={removeNow} onFocus={() => setHeld(true)} onBlur={() => setHeld(false)}>
            {words.feedbackUndo}
          </button>
        )}
        {feedback && (
          <button
            ref={noteButton}
            type="button"
            className="deed-link"
            aria-expanded={writing}
            aria-disabled={busy}
            onClick={() => {
              if (!busy) setWriting(!writing);
            }}
          >
            {feedback.notes || feedback.corrected_text ? words.feedbackNoteEdit : words.feedbackNote}
          </button>
        )}
      </span>
      {first && feedback && (
        <Suspense fallback={null}>
          <FirstThumb />
        </Suspense>
      )}
      {problem && (
        <p className="feedback-problem" role="alert">
          {words.feedbackFailed} {problem}
        </p>
      )}
      {writing && feedback && (
        <Suspense fallback={null}>
          <NoteForm target={target} said={feedback} close={close} />
        </Suspense>
      )}
    </>
  );
}
