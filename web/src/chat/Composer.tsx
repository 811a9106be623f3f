import { lazy, Suspense, useContext, useRef, useState } from 'react';
import { useUIConfig } from '../api/queries.ts';
import type { Conversation, Interrupt } from '../api/types.ts';
import { fieldsOf, textOfLines, trimmed, type Fields } from '../composer/doc.ts';
import { useSlash } from '../composer/focus.ts';
import { MentionList } from '../composer/MentionList.tsx';
import { rowID, useMentions } from '../composer/useMentions.ts';
import { useShown, useWriter, type Writing } from '../composer/useWriter.ts';
import { useWords } from '../i18n/index.ts';
import type { Dictionary } from '../i18n/en.ts';
import { ContextChooser } from '../knowledge/ContextChooser.tsx';
import { SurfaceContext } from '../knowledge/surface.ts';
import { Attach } from '../knowledge/Attach.tsx';
import { UploadTray } from '../knowledge/UploadTray.tsx';
import { useStore } from '../lib/store.ts';
import { Icon } from '../shell/Icon.tsx';
import { takesForm, takesWords, waitsForProgram } from './QuestionCard.tsx';
import { answer, answerDraft, giveBackLines, notice, notices } from './commands.ts';

// Most have one model and nothing to choose: it need not be there with the page.
const BackendChooser = lazy(() => import('../knowledge/BackendChooser.tsx'));
const Microphone = lazy(() => import('../voice/Microphone.tsx'));
const WorkflowChooser = lazy(async () => ({ default: (await import('../knowledge/WorkflowChooser.tsx')).WorkflowChooser }));

interface Props {
  draftKey: string;
  conversation: Conversation | null;
  question: Interrupt | null;
  running: boolean;
  sending: boolean;
  onSend(text: string, fields?: Fields): void;
  onStop(): Promise<void>;
  /** Nothing but words: no files, and nothing to choose. */
  bare?: boolean;
  /** An arrow up in an empty box asks to change what was said last. */
  onEditLast?(): void;
}

type Mode = 'message' | 'answer' | 'choose' | 'run';

/** One place decides what the box is for, and whether it is locked. */
function modeOf(props: Props): Mode {
  if (props.question) return takesWords(props.question) ? 'answer' : 'choose';
  return props.running || props.sending ? 'run' : 'message';
}

function reason(mode: Mode, words: Dictionary, question: Interrupt | null): string {
  if (question && waitsForProgram(question)) return words.lockedByProgram;
  if (mode === 'choose') return question && takesForm(question) ? words.lockedByForm : words.lockedByQuestion;
  if (mode === 'answer') return words.openForAnswer;
  return mode === 'run' ? words.lockedByRun : '';
}

function placeholder(mode: Mode, words: Dictionary, own: string | undefined): string {
  if (mode === 'choose') return ' '; // not empty, so that CSS can tell an empty box
  if (mode === 'answer') return words.answerHint;
  return mode === 'run' ? words.lockedByRun : own || words.composerHint;
}

/** The box to write in: a message, or the answer to a question. */
export function Composer(props: Props) {
  const words = useWords();
  const mode = modeOf(props);
  const surface = useContext(SurfaceContext);
  const listens = useUIConfig().data?.speech_to_text;
  const draftKey = mode === 'answer' ? answerDraft(props.question!) : props.draftKey;
  const place = useRef<HTMLDivElement>(null);
  const writing = useWriter(place, {
    draftKey,
    key: (event) => mentions.key(event) || pressed(event, writing.empty, box.submit, props.onEditLast),
  });
  const mentions = useMentions(writing.query, mode === 'answer', (query, mention) => writing.writer().mention(query, mention));
  const box = useBox(props, mode, writing);
  useSlash();
  // While an answer is written, an empty box says so by itself: nothing moves.
  const why = mode === 'run' && writing.empty ? '' : reason(mode, words, props.question);
  useShown(
    writing,
    {
      id: 'message',
      'aria-label': words.composerLabel,
      'aria-multiline': 'true',
      'aria-placeholder': placeholder(mode, words, surface?.placeholder),
      enterkeyhint: 'send',
      ...(why ? { 'aria-describedby': 'why' } : {}),
      ...(mentions.open && mentions.groups.length > 0 ? { 'aria-controls': 'mentions' } : {}),
      ...(mentions.active ? { 'aria-activedescendant': rowID(mentions.active) } : {}),
      ...(mode === 'choose' ? { 'aria-disabled': 'true' } : {}),
    },
    mode !== 'choose',
  );
  return (
    <div className="composer-area">
      <Problem draftKey={props.draftKey} />
      <UploadTray />
      <div className="composer" data-mode={mode}>
        <MentionList mentions={mentions} />
        <div ref={place} className="writer" />
        {why && (
          <p id="why" className="why">
            {why}
          </p>
        )}
        <div className="tools">
          {!props.bare && (
            <>
              <Attach draftKey={props.draftKey} conversation={props.conversation} />
              <ContextChooser draftKey={props.draftKey} conversation={props.conversation} />
              <Suspense>
                <WorkflowChooser draftKey={props.draftKey} conversation={props.conversation} />
              </Suspense>
              <Suspense>
                <BackendChooser draftKey={props.draftKey} conversation={props.conversation} />
              </Suspense>
            </>
          )}
          <span className="spring" />
          {listens && (
            <Suspense>
              <Microphone draftKey={props.draftKey} off={mode === 'choose'} write={(text) => writing.writer().insert(text)} />
            </Suspense>
          )}
          {mode === 'run' && props.running ? (
            <StopButton stop={props.onStop} />
          ) : (
            <SendButton label={mode === 'answer' ? words.sendAnswer : words.send} disabled={!box.ready} send={box.submit} />
          )}
        </div>
      </div>
    </div>
  );
}

/**
 * Enter sends, with Shift it breaks the line; while an input method composes it
 * belongs to that (keyCode 229 in older engines).
 */
function pressed(event: KeyboardEvent, empty: boolean, submit: () => void, editLast?: () => void): boolean {
  const plain = !event.shiftKey && !event.altKey && !event.ctrlKey && !event.metaKey;
  if (event.key === 'ArrowUp' && empty && editLast && plain) {
    editLast();
    return true;
  }
  if (event.key !== 'Enter') return false;
  if (event.isComposing || event.keyCode === 229) return true; // the editor would break the line
  if (event.shiftKey) return false;
  submit();
  return true;
}

interface Box {
  ready: boolean; // there is something to send, and it may be sent
  submit(): void;
}

/** What becomes of the words in the box. */
function useBox(props: Props, mode: Mode, writing: Writing): Box {
  const words = useWords();
  const [busy, setBusy] = useState(false);
  const ready = !writing.empty && !busy && (mode === 'message' || mode === 'answer');

  function submit() {
    if (!ready) return;
    const lines = trimmed(writing.writer().lines());
    if (mode === 'message') {
      writing.clear();
      props.onSend(textOfLines(lines), fieldsOf(lines));
      return;
    }
    const said = textOfLines(lines, ''); // a document is answered with by its name
    const value = typed(said, props.question!);
    if (value === null) return notice(props.draftKey, words.numberNeeded);
    const question = props.question!;
    setBusy(true);
    writing.clear();
    void answer(question, value, said).then(({ settled }) => {
      setBusy(false);
      if (!settled) giveBackLines(answerDraft(question), lines);
    });
  }

  return { ready, submit };
}

/** A sentence about what did not work. */
function Problem({ draftKey }: { draftKey: string }) {
  const words = useWords();
  const problem = useStore(notices)[draftKey];
  if (!problem) return null;
  return (
    <div className="notice" role="alert">
      <p>{problem}</p>
      <button type="button" className="icon-button" aria-label={words.dismiss} onClick={() => notice(draftKey, '')}>
        <Icon name="close" />
      </button>
    </div>
  );
}

function SendButton({ label, disabled, send }: { label: string; disabled: boolean; send(): void }) {
  return (
    <button type="button" className="round primary" aria-label={label} title={label} disabled={disabled} onClick={send}>
      <Icon name="send" />
    </button>
  );
}

export function StopButton({ stop }: { stop(): Promise<void> }) {
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
