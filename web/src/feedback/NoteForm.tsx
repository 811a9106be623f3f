import { useId, useState, type FormEvent } from 'react';
import type { Feedback } from '../api/gen.ts';
import { useWords } from '../i18n/index.ts';
import { isUp, saveFeedback, type FeedbackInput, type Target } from './state.ts';

/** Why an answer was good or bad, and what it should have been. */
export function NoteForm({ target, said, close }: { target: Target; said: Feedback; close(): void }) {
  const words = useWords();
  const [note, setNote] = useState<Omit<FeedbackInput, 'signal'>>({ notes: said.notes, corrected_text: said.corrected_text });
  const [strong, setStrong] = useState(said.signal === 'always' || said.signal === 'never');
  const [busy, setBusy] = useState(false);
  const up = isUp(said.signal);

  function save(event: FormEvent) {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    const signal = up ? (strong ? 'always' : 'like') : strong ? 'never' : 'dislike';
    void saveFeedback(target, said, { signal, ...trimmed(note) }).then((kept) => {
      setBusy(false);
      if (kept) close();
    });
  }

  return (
    <form
      className="feedback-form"
      aria-label={words.feedbackNote}
      onSubmit={save}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.preventDefault();
        close();
      }}
    >
      <NoteFields note={note} onChange={setNote} focus />
      <label className="feedback-strong">
        <input type="checkbox" checked={strong} onChange={(event) => setStrong(event.target.checked)} />
        {up ? words.feedbackAlways : words.feedbackNever}
      </label>
      <div className="editor-deeds">
        <button type="button" onClick={close}>
          {words.cancel}
        </button>
        <button type="submit" className="primary" disabled={busy}>
          {words.feedbackSave}
        </button>
      </div>
    </form>
  );
}

/** The two things there are to write. */
export function NoteFields({ note, onChange, focus = false }: { note: Omit<FeedbackInput, 'signal'>; onChange(note: Omit<FeedbackInput, 'signal'>): void; focus?: boolean }) {
  const words = useWords();
  const id = useId();
  return (
    <>
      <label htmlFor={`${id}-why`}>{words.feedbackWhy}</label>
      <textarea id={`${id}-why`} rows={2} maxLength={4000} autoFocus={focus} value={note.notes ?? ''} onChange={(event) => onChange({ ...note, notes: event.target.value })} />
      <label htmlFor={`${id}-should`}>{words.feedbackShould}</label>
      <textarea id={`${id}-should`} rows={3} maxLength={100_000} value={note.corrected_text ?? ''} onChange={(event) => onChange({ ...note, corrected_text: event.target.value })} />
    </>
  );
}

type Note = Required<Omit<FeedbackInput, 'signal'>>;

export function noteOf(said: Omit<FeedbackInput, 'signal'> | null): Note {
  return { notes: said?.notes ?? '', corrected_text: said?.corrected_text ?? '' };
}

export function sameNote(a: Note, b: Note): boolean {
  return a.notes === b.notes && a.corrected_text === b.corrected_text;
}

/**
 * What stands in the fields once something else is kept than was last: what is
 * kept, unless nothing was written elsewhere and somebody is writing here.
 */
export function noteAfter(note: Note, last: Note, kept: Note): Note {
  return sameNote(note, last) || !sameNote(kept, noteOf(null)) ? kept : note;
}

/** A note without what was not written. */
export function trimmed(note: Omit<FeedbackInput, 'signal'>): Omit<FeedbackInput, 'signal'> {
  const [notes, corrected] = [note.notes?.trim(), note.corrected_text?.trim()];
  return { ...(notes ? { notes } : {}), ...(corrected ? { corrected_text: corrected } : {}) };
}
