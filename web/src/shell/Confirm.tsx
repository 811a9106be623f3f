import { useEffect, useRef } from 'react';
import { useWords } from '../i18n/index.ts';

interface Props {
  text: string;
  act: string;
  onAct(): void;
  onCancel(): void;
}

/** Asks before something is gone for good; keeping is the first choice. */
export function Confirm({ text, act, onAct, onCancel }: Props) {
  const words = useWords();
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const box = dialog.current;
    if (box && !box.open) box.showModal();
    return () => box?.close();
  }, []);
  return (
    <dialog ref={dialog} className="confirm" aria-label={act} onCancel={onCancel}>
      <p>{text}</p>
      <div className="flex-row">
        <button type="button" autoFocus onClick={onCancel}>
          {words.keep}
        </button>
        <button type="button" className="danger" onClick={onAct}>
          {act}
        </button>
      </div>
    </dialog>
  );
}
