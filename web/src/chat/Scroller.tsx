import { useCallback, useEffect, useRef, useState, type FocusEvent, type MouseEvent, type ReactNode } from 'react';
import { useWords } from '../i18n/index.ts';
import { Icon } from '../shell/Icon.tsx';

const nearEnd = 32; // px from the end that count as the end
const margin = 16; // px left above a question that has come to the top

/**
 * What the view does when text grows. turn: follow, until the question stands
 * at the top, so that an answer is read from its beginning. end: follow to the
 * end. free: stay where the reader is, also when something is put above.
 */
type Mode = 'turn' | 'end' | 'free';

interface Props {
  children: ReactNode;
  running: boolean; // an answer is being written as this opens
  resetOn: string; // words on their way: a new turn begins
}

/**
 * Scrolling belongs to the reader. Only the reader's hand changes the mode;
 * growing text never does, so it cannot be mistaken for it.
 */
export function Scroller({ children, running, resetOn }: Props) {
  const words = useWords();
  const { view, content, away, moved, scrolled, touched, left, stay, toEnd } = useFollowing(running, resetOn);
  return (
    <div className="scroller">
      <div
        ref={view}
        className="view"
        tabIndex={0}
        role="log"
        aria-live="off"
        aria-label={words.chat}
        onScroll={scrolled}
        onClickCapture={touched}
        onWheel={(event) => (event.deltaY < 0 ? left() : moved())}
        onTouchMove={moved}
        onTouchEnd={() => setTimeout(moved, 400)}
        onPointerUp={(event) => {
          if (event.target === event.currentTarget) moved(); // the scrollbar
        }}
        onKeyUp={(event) => {
          if (event.target === event.currentTarget && scrollKeys.has(event.key)) moved();
        }}
        onFocus={(event) => {
          if (event.target.matches('textarea')) stay(); // what one writes in does not run away
          else if (walkedTo(event)) moved(); // the browser brought it into view
        }}
      >
        <div ref={content} className="column">
          {children}
        </div>
      </div>
      {away && (
        <button type="button" className="to-latest" onClick={toEnd}>
          <Icon name="down" />
          {words.toLatest}
        </button>
      )}
    </div>
  );
}

function useFollowing(running: boolean, resetOn: string) {
  const view = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const mode = useRef<Mode>(running ? 'turn' : 'end');
  const held = useRef<Held | null>(null);
  const [away, setAway] = useState(false);

  const settle = useCallback((next?: Mode) => {
    const box = view.current!;
    mode.current = next ?? mode.current;
    if (mode.current === 'free') {
      keep(box, held.current);
    } else {
      const end = box.scrollHeight - box.clientHeight;
      box.scrollTop = mode.current === 'end' ? end : Math.min(end, questionAt(box, content.current!) - margin);
    }
    held.current = holdOf(box, content.current!);
    setAway(distance(box) > nearEnd);
  }, []);

  useEffect(() => {
    const watcher = new ResizeObserver(() => settle());
    watcher.observe(content.current!);
    watcher.observe(view.current!);
    return () => watcher.disconnect();
  }, [settle]);

  useEffect(() => {
    if (resetOn !== '') settle('turn');
  }, [resetOn, settle]);

  /** The reader moved, and at the same time something may have come above. */
  function scrolled() {
    const box = view.current!;
    if (mode.current === 'free') {
      keep(box, held.current);
      setAway(distance(box) > nearEnd);
    }
    held.current = holdOf(box, content.current!);
  }

  /** After the reader's hand: is this the end? */
  function moved() {
    requestAnimationFrame(() => {
      if (!view.current) return;
      scrolled();
      settle(distance(view.current) <= nearEnd ? 'end' : 'free');
    });
  }

  /** Turned back: a slow machine has not moved yet when it is asked where the view is. */
  function left() {
    const box = view.current!;
    if (box.scrollHeight <= box.clientHeight) return;
    stay();
    requestAnimationFrame(() => view.current && setAway(distance(view.current) > nearEnd));
  }

  /** What one presses stays under the hand, whatever it opens or closes. */
  function touched(event: MouseEvent) {
    if (event.target instanceof Element) held.current = { element: event.target, at: offsetOf(view.current!, event.target) };
  }

  function stay() {
    scrolled();
    mode.current = 'free';
  }

  return { view, content, away, moved, scrolled, touched, left, stay, toEnd: () => settle('end') };
}

const scrollKeys: ReadonlySet<string> = new Set(['PageUp', 'PageDown', 'ArrowUp', 'ArrowDown', 'Home', 'End', ' ']);

/** Whether the focus came by the keyboard, to something that stands in the text. */
function walkedTo(event: FocusEvent): boolean {
  return event.target !== event.currentTarget && event.target.matches(':focus-visible');
}

/** What stands at the top of the view, and where. */
interface Held {
  element: Element;
  at: number; // px below the beginning of the text
}

function offsetOf(box: HTMLElement, element: Element): number {
  return element.getBoundingClientRect().top - box.getBoundingClientRect().top + box.scrollTop;
}

/**
 * The first turn that begins in the view, for one that only reaches into it may
 * turn out taller than was guessed; where none begins, that one. There may be
 * thousands, in order: halve.
 */
function holdOf(box: HTMLElement, content: HTMLElement): Held | null {
  const { top, bottom } = box.getBoundingClientRect();
  const turns = content.getElementsByClassName('turn');
  let [from, to] = [0, turns.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (turns[middle]!.getBoundingClientRect().top >= top) to = middle;
    else from = middle + 1;
  }
  const begins = turns[from];
  const element = begins && begins.getBoundingClientRect().top < bottom ? begins : turns[from - 1];
  return element ? { element, at: offsetOf(box, element) } : null;
}

/** Goes along with it when something came or grew above it. */
function keep(box: HTMLElement, held: Held | null): void {
  if (!held?.element.isConnected) return;
  const pushed = offsetOf(box, held.element) - held.at;
  if (Math.abs(pushed) >= 1) box.scrollTop += pushed;
}

function distance(box: HTMLElement): number {
  return box.scrollHeight - box.scrollTop - box.clientHeight;
}

/** Where the last question stands in the whole of the text. */
function questionAt(box: HTMLElement, content: HTMLElement): number {
  const last = content.lastElementChild;
  return last ? offsetOf(box, last) : 0;
}
