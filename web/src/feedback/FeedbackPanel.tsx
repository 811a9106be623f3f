import { useState, type ReactNode } from 'react';
import { useRun } from '../api/queries.ts';
import { useThread } from '../api/thread.ts';
import type { Message } from '../api/types.ts';
import { Json } from '../code/Json.tsx';
import { useWords } from '../i18n/index.ts';
import { NoteFields, noteAfter, noteOf, sameNote, trimmed } from './NoteForm.tsx';
import { learnable } from './read.ts';
import { saveFeedback, useStanding, type Target } from './state.ts';
import { Thumbs } from './Thumbs.tsx';

const choices = 20; // of the latest answers

/** Feedback with a note, on the latest answer or an earlier one, and what is known of it (UI-09). */
export default function FeedbackPanel({ conversation }: { conversation: string | null }) {
  const words = useWords();
  const thread = useThread(conversation);
  const [picked, setPicked] = useState('');
  const answers = (thread.data?.data ?? []).filter((one) => one.role === 'assistant' && learnable(one)).slice(-choices);
  const answer = answers.find((one) => one.id === picked) ?? answers.at(-1) ?? null;
  const target = conversation && answer ? { conversation, message: answer.id } : null;
  return (
    <div className="feedback-panel">
      <label className="field">
        <span>{words.feedbackTarget}</span>
        <select value={answer?.id ?? ''} disabled={answers.length === 0} onChange={(event) => setPicked(event.target.value)}>
          {answers.length === 0 && <option value="">{words.feedbackNoAnswer}</option>}
          {answers.toReversed().map((one) => (
            <option key={one.id} value={one.id}>
              {beginning(one.content)}
            </option>
          ))}
        </select>
      </label>
      <Rating key={answer?.id ?? ''} target={target} answer={answer} />
      <Part name={words.feedbackIDs} open value={target && { conversation_id: target.conversation, message_id: target.message, run_id: answer?.run_id }} />
      <Part name={words.feedbackAdapters} value={answer && (answer.meta['adapters'] ?? [])} />
      <Part name={words.feedbackSnippets} value={answer && (answer.content_struct?.citations ?? [])} />
      <Part name={words.feedbackGates} value={answer && (answer.meta['gates'] ?? {})} />
      <TracePart run={answer?.run_id ?? null} />
    </div>
  );
}

function beginning(text: string): string {
  const line = text
    .replaceAll(/^[>#*\-\s]+/gm, '') // what only sets the words
    .replaceAll(/[`*]|\s+/g, (mark) => (mark.trim() ? '' : ' '))
    .trim();
  return line.length > 80 ? `${line.slice(0, 79)}…` : line;
}

function Rating({ target, answer }: { target: Target | null; answer: Message | null }) {
  const words = useWords();
  const { feedback, busy, problem, undo } = useStanding(target?.message ?? '', answer?.feedback ?? null);
  const kept = noteOf(feedback);
  const [last, setLast] = useState(kept);
  const [note, setNote] = useState(kept);
  if (!busy && !sameNote(kept, last)) {
    setLast(kept);
    setNote(noteAfter(note, last, kept));
  }
  const written = trimmed(note);
  const changed = feedback !== null && ((written.notes ?? '') !== feedback.notes || (written.corrected_text ?? '') !== feedback.corrected_text);
  return (
    <div className="feedback-rating">
      <div className="feedback-row">
        <Thumbs target={target} stored={answer?.feedback ?? null} with={written} />
        <span role="status">{undo ? words.feedbackNoted : ''}</span>
      </div>
      <NoteFields note={note} onChange={(next) => setNote(noteOf(next))} />
      {problem && (
        <p className="feedback-problem" role="alert">
          {words.feedbackFailed} {problem}
        </p>
      )}
      {target && feedback && changed && (
        <div className="editor-deeds">
          <button type="button" className="primary" disabled={busy} onClick={() => void saveFeedback(target, feedback, { signal: feedback.signal, ...written })}>
            {words.feedbackSave}
          </button>
        </div>
      )}
    </div>
  );
}

/** A part of what is known of the answer, as it is kept. */
function Part({ name, value, open = false, children }: { name: string; value?: unknown; open?: boolean; children?: ReactNode }) {
  const words = useWords();
  return (
    <details className="feedback-part" open={open}>
      <summary>{name}</summary>
      {children ?? (value === null || value === undefined ? <p className="hint">{words.feedbackNothing}</p> : <Json value={value} />)}
    </details>
  );
}

function TracePart({ run }: { run: string | null }) {
  const words = useWords();
  const [opened, setOpened] = useState(false);
  const { data, isError } = useRun(run, opened);
  const nothing = run === null || data ? words.feedbackNothing : isError ? words.runLoadFailed : words.loadingPage;
  return (
    <details className="feedback-part" onToggle={(event) => setOpened(opened || event.currentTarget.open)}>
      <summary>{words.feedbackTrace}</summary>
      {data?.trace ? <Json value={data.trace} /> : <p className="hint">{nothing}</p>}
    </details>
  );
}
