import { useEffect, useRef, type ReactNode } from 'react';
import { useWords } from '../i18n/index.ts';
import { Icon } from '../shell/Icon.tsx';
import { panel } from './state.ts';

const beside = '(min-width: 1280px)';

/**
 * Beside the text where there is room, over it where there is not; then it
 * holds the focus. Esc closes it, and the focus goes back to where it was.
 */
export function Sheet({ title, note, children }: { title: string; note?: ReactNode; children: ReactNode }) {
  const words = useWords();
  const sheet = useRef<HTMLDialogElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    const box = sheet.current!;
    const opener = document.activeElement instanceof HTMLElement ? document.activeElement : null;
    const room = matchMedia(beside);
    const show = () => {
      box.close(); // it is one or the other
      if (room.matches) box.show();
      else box.showModal();
      heading.current?.focus();
    };
    show();
    room.addEventListener('change', show); // a window that was made narrow has no room for both
    return () => {
      room.removeEventListener('change', show);
      box.close();
      if (opener?.isConnected) opener.focus();
    };
  }, []);
  return (
    <dialog
      ref={sheet}
      className="sheet"
      aria-labelledby="sheet-title"
      onCancel={(event) => {
        event.preventDefault();
        panel.set(null);
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape' && !event.defaultPrevented) panel.set(null);
      }}
    >
      <div className="sheet-head">
        <div>
          {note && <p className="note">{note}</p>}
          <h2 id="sheet-title" ref={heading} tabIndex={-1}>
            {title}
          </h2>
        </div>
        <button type="button" className="icon-button" aria-label={words.close} onClick={() => panel.set(null)}>
          <Icon name="close" />
        </button>
      </div>
      {children}
    </dialog>
  );
}
