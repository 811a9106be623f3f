import { useEffect, useRef, useState, type KeyboardEvent } from 'react';
import type { Conversation, Interrupt } from '../api/types.ts';
import { useWords } from '../i18n/index.ts';
import type { Dictionary } from '../i18n/en.ts';
import { ContextChooser } from '../knowledge/ContextChooser.tsx';
import { WorkflowChooser } from '../knowledge/WorkflowChooser.tsx';
import { Attach } from '../knowledge/Attach.tsx';
import { UploadTray } from '../knowledge/UploadTray.tsx';
import { readDraft, writeDraft } from '../lib/drafts.ts';
import { useStore } from '../lib/store.ts';
import { Icon } from '../shell/Icon.tsx';
import { takesWords } from './Slip.tsx';
import { answer, answerDraft, draftsTouched, notice, notices } from './talk.ts';

interface Props {
  draftKey: string;
  conversation: Conversation | null;
  question: Interrupt | null;
  running: boolean;
  sending: boolean;
  onSend(text: string): void;
  onStop(): Promise<void>;
}

type Mode = 'message' | 'answer' | 'choose' | 'run';

/** One place decides what the box is for, and whether it is locked. */
function modeOf(props: Props): Mode {
  if (props.question) return takesWords(props.question) ? 'answer' : 'choose';
  return props.running || props.sending ? 'run' : 'message';
}

function reason(mode: Mode, words: Dictionary): string {
  if (mode === 'choose') return words.lockedByQuestion;
  if (mode === 'answer') return words.openForAnswer;
  return mode === 'run' ? words.lockedByRun : '';
}

function placeholder(mode: Mode, words: Dictionary): string {
  if (mode === 'choose') return ' '; // not empty, so that CSS can tell an empty box
  if (mode === 'answer') return words.answerHint;
  return mode === 'run' ? words.lockedByRun : words.composerHint;
}

export function Composer(props: Props) {
  const words = useWords();
  const mode = modeOf(props);
  const draftKey = mode === 'answer' ? answerDraft(props.question!) : props.draftKey;
  const [text, setText] = useDraft(draftKey);
  const [busy, setBusy] = useState(false);
  const problem = useStore(notices)[props.draftKey];
  const field = useGrowing(`${mode} ${text}`);
  useSlash(field);

  function submit() {
    const said = text.trim();
    if (said === '' || busy || mode === 'run' || mode === 'choose') return;
    if (mode === 'message') {
      setText('');
      props.onSend(said);
      return;
    }
    const value = typed(said, props.question!);
    if (value === null) return notice(props.draftKey, words.numberNeeded);
    setBusy(true);
    setText('');
    void answer(props.question!, value, said).finally(() => setBusy(false));
  }

  function press(event: KeyboardEvent<HTMLTextAreaElement>) {
    // While an input method composes, Enter belongs to it (keyCode 229 in older engines).
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing || event.keyCode === 229) return;
    event.preventDefault();
    submit();
  }

  // While an answer is written, an empty box says so by itself: nothing moves.
  const why = mode === 'run' && text === '' ? '' : reason(mode, words);
  return (
    <div className="composer-area">
      {problem && (
        <div className="notice" role="alert">
          <p>{problem}</p>
          <button type="button" className="icon-button" aria-label={words.dismiss} onClick={() => notice(props.draftKey, '')}>
            <Icon name="close" />
          </button>
        </div>
      )}
      <UploadTray inPanel={false} />
      <div className="composer" data-mode={mode}>
        <textarea
          id="message"
          ref={field}
          rows={1}
          value={text}
          disabled={mode === 'choose'}
          aria-label={words.composerLabel}
          aria-describedby={why ? 'why' : undefined}
          placeholder={placeholder(mode, words)}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={press}
        />
        {why && (
          <p id="why" className="why">
            {why}
          </p>
        )}
        <div className="tools">
          <Attach draftKey={props.draftKey} conversation={props.conversation} />
          <ContextChooser draftKey={props.draftKey} conversation={props.conversation} />
          <WorkflowChooser draftKey={props.draftKey} />
          <span className="spring" />
          {mode === 'run' && props.running ? (
            <StopButton stop={props.onStop} />
          ) : (
            <button
              type="button"
              className="round primary"
              aria-label={mode === 'answer' ? words.sendAnswer : words.send}
              title={mode === 'answer' ? words.sendAnswer : words.send}
              disabled={text.trim() === '' || busy || mode === 'choose' || mode === 'run'}
              onClick={submit}
            >
              <Icon name="send" />
            </button>
          )}
        </div>
      </div>
    </div>
  );
}

function StopButton({ stop }: { stop(): Promise<void> }) {
  const words = useWords();
  const [stopping, setStopping] = useState(false);
  return (
    <button
      type="button"
      className="round"
      aria-label={stopping ? words.stopping : words.stop}
      title={words.stop}
      disabled={stopping}
      onClick={() => {
        setStopping(true);
        void stop().finally(() => setStopping(false));
      }}
    >
      <Icon name="stop" />
    </button>
  );
}

/** The value the question wants; null when the words cannot be one. */
function typed(text: string, question: Interrupt): string | number | null {
  const type = question.answer_schema?.type;
  if (type !== 'number' && type !== 'integer') return text;
  const value = Number(text.replace(',', '.'));
  return Number.isFinite(value) ? value : null;
}

const saveAfter = 1_000; // ms of rest (UI-15)

/** Words that survive a reload: saved after a rest, and at once when the page goes. */
function useDraft(key: string): [string, (text: string) => void] {
  const touched = useStore(draftsTouched);
  const [held, setHeld] = useState({ key, touched, text: readDraft(key) });
  if (held.key !== key || held.touched !== touched) setHeld({ key, touched, text: readDraft(key) });
  const latest = useRef<{ key: string; text: string } | null>(null);

  useEffect(() => {
    const save = () => {
      if (latest.current) writeDraft(latest.current.key, latest.current.text);
      latest.current = null;
    };
    const timer = setTimeout(save, saveAfter);
    window.addEventListener('pagehide', save);
    return () => {
      clearTimeout(timer);
      window.removeEventListener('pagehide', save);
    };
  }, [held]);
  useEffect(
    () => () => {
      if (latest.current) writeDraft(latest.current.key, latest.current.text);
      latest.current = null;
    },
    [key],
  );

  return [
    held.text,
    (text) => {
      latest.current = { key, text };
      if (text === '') {
        writeDraft(key, '');
        latest.current = null;
      }
      setHeld({ key, touched, text });
    },
  ];
}

/** A slash pressed outside any field goes to the box. */
function useSlash(field: React.RefObject<HTMLTextAreaElement | null>) {
  useEffect(() => {
    function press(event: globalThis.KeyboardEvent) {
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.target instanceof Element && event.target.closest('input, textarea, select, [contenteditable]')) return;
      event.preventDefault();
      field.current?.focus();
    }
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, [field]);
}

const tallest = 240; // px

/** A box as tall as its words, up to a limit. */
function useGrowing(content: string) {
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    const box = field.current;
    if (!box) return;
    box.style.height = 'auto';
    box.style.height = `${Math.min(box.scrollHeight, tallest)}px`;
  }, [content]);
  return field;
}
