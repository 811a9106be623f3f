import { useEffect, useRef, useState, type ReactNode } from 'react';
import { useWords } from '../i18n/index.ts';
import { Icon } from '../shell/Icon.tsx';

const nearEnd = 32; // px from the end that count as the end

/**
 * Scrolling belongs to the reader: the view follows what is written until the
 * reader moves away, and again once the reader is back at the end. Growing
 * text never changes that, so it cannot be mistaken for the reader's hand.
 */
export function Scroller({ children, resetOn }: { children: ReactNode; resetOn: string }) {
  const words = useWords();
  const view = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const pinned = useRef(true);
  const [away, setAway] = useState(false);

  function pin(value: boolean) {
    pinned.current = value;
    setAway(!value);
  }

  function toEnd() {
    const box = view.current;
    if (box) box.scrollTop = box.scrollHeight;
  }

  useEffect(() => {
    const watcher = new ResizeObserver(() => {
      if (pinned.current) toEnd();
    });
    watcher.observe(content.current!);
    watcher.observe(view.current!);
    return () => watcher.disconnect();
  }, []);

  useEffect(() => {
    if (resetOn === '') return;
    pin(true);
    toEnd();
  }, [resetOn]);

  /** After the reader moved: is this the end? */
  function moved() {
    requestAnimationFrame(() => {
      const box = view.current;
      if (box) pin(box.scrollHeight - box.scrollTop - box.clientHeight <= nearEnd);
    });
  }

  return (
    <div className="scroller">
      <div
        ref={view}
        className="view"
        tabIndex={0}
        role="log"
        aria-live="off"
        aria-label={words.chat}
        onWheel={moved}
        onTouchMove={moved}
        onTouchEnd={() => setTimeout(moved, 400)}
        onPointerUp={moved}
        onKeyUp={(event) => {
          if (['PageUp', 'PageDown', 'ArrowUp', 'ArrowDown', 'Home', 'End', ' '].includes(event.key)) moved();
        }}
      >
        <div ref={content} className="column">
          {children}
        </div>
      </div>
      {away && (
        <button
          type="button"
          className="to-latest"
          onClick={() => {
            pin(true);
            toEnd();
          }}
        >
          <Icon name="down" />
          {words.toLatest}
        </button>
      )}
    </div>
  );
}
