import { useContext, useEffect, useLayoutEffect, useRef, useState, type KeyboardEvent } from 'react';
import { flushSync } from 'react-dom';
import type { Message } from '../api/types.ts';
import { focusComposer } from '../composer/focus.ts';
import { useWords } from '../i18n/index.ts';
import { readDraft, writeDraft } from '../lib/drafts.ts';
import { ChangeContext, edit, editDraft } from './change.ts';
import { useLockReason } from './useLockReason.ts';

const tallest = 320; // px

/**
 * One's words, to be changed and sent again. Escape leaves them as they were;
 * what was typed is there again when one comes back.
 */
export function Editor({ message }: { message: Message }) {
  const words = useWords();
  const change = useContext(ChangeContext)!;
  const locked = useLockReason();
  const [text, setText] = useState(() => readDraft(editDraft(message.id)) || message.content);
  const field = useRef<HTMLTextAreaElement>(null);
  const said = text.trim();

  useLayoutEffect(() => {
    const box = field.current!;
    box.style.height = 'auto';
    box.style.height = `${Math.min(box.scrollHeight, tallest)}px`;
  }, [text]);

  useEffect(() => {
    const box = field.current!;
    box.focus({ preventScroll: true });
    box.setSelectionRange(box.value.length, box.value.length);
    box.scrollIntoView({ block: 'nearest' });
  }, []);

  /** Leaves the words as they were; the focus goes on to the button that opens them again. */
  function close() {
    const turn = field.current!.closest('.turn');
    flushSync(() => edit(change.conversation, null));
    turn?.querySelector<HTMLElement>('[data-edit]')?.focus();
  }

  function type(next: string) {
    setText(next);
    writeDraft(editDraft(message.id), next === message.content ? '' : next);
  }

  function submit() {
    if (said === '' || locked) return;
    void change.replace(message, said).then((taken) => {
      if (!taken) return; // it opens again, with the words
      writeDraft(editDraft(message.id), '');
      edit(change.conversation, null);
    });
    focusComposer(); // this form goes while the words are on their way
  }

  return (
    <form
      className="editor"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.stopPropagation();
        close();
      }}
    >
      <textarea
        ref={field}
        rows={1}
        value={text}
        aria-label={words.editLabel}
        aria-describedby={`hint-${message.id}`}
        onChange={(event) => type(event.target.value)}
        onKeyDown={(event) => {
          if (!sends(event)) return;
          event.preventDefault();
          submit();
        }}
      />
      <p id={`hint-${message.id}`} className="hint">
        {said === '' ? words.editEmpty : locked || words.editHint}
      </p>
      <div className="editor-deeds">
        <button type="button" onClick={close}>
          {words.cancel}
        </button>
        <button type="submit" className="primary" disabled={said === '' || locked !== ''}>
          {words.send}
        </button>
      </div>
    </form>
  );
}

/** Enter sends, with Shift it breaks the line; while an input method composes it belongs to that (keyCode 229 in older engines). */
function sends(event: KeyboardEvent): boolean {
  return event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing && event.keyCode !== 229;
}
