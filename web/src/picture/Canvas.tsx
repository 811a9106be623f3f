import { useCallback, useEffect, useLayoutEffect, useRef, useState, type ReactNode } from 'react';
import { useWords } from '../i18n/index.ts';
import { Icon } from '../shell/Icon.tsx';
import type { Point } from './layout.ts';

interface Props {
  width: number;
  height: number;
  focus: Point; // what is looked at first where not everything has room
  label: string;
  children: ReactNode;
}

const least = 0.15;
const most = 2;
const legible = 0.72; // letters are not made smaller than this by themselves
const step = 1.25;

const within = (scale: number) => Math.min(most, Math.max(least, scale));

/** A drawing to zoom (buttons, or the wheel with Ctrl) and to scroll. */
export function Canvas({ width, height, focus, label, children }: Props) {
  const words = useWords();
  const frame = useRef<HTMLDivElement>(null);
  const [chosen, setChosen] = useState<number | null>(null);
  const room = useWidth(frame);
  const fit = room > 0 ? Math.min(1, room / width) : 1;
  const scale = chosen ?? Math.max(fit, Math.min(legible, 1));
  const hold = useStill(frame, scale);

  const zoom = useCallback(
    (next: number, place?: Point) => {
      const box = frame.current!;
      hold(place ?? { x: box.clientWidth / 2, y: box.clientHeight / 2 });
      setChosen(within(next));
    },
    [hold],
  );
  useWheel(frame, scale, zoom);

  const { x, y } = focus;
  useLayoutEffect(() => {
    const box = frame.current!;
    if (chosen === null && room > 0) box.scrollTo(x * scale - box.clientWidth / 2, Math.max(0, y * scale - 40));
    // Only when the drawing or the room changes: after that it is the reader's.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [room, width]);

  return (
    <div className="canvas">
      <div className="zoom" role="group" aria-label={words.zoom}>
        <button type="button" className="icon-button" aria-label={words.zoomOut} title={words.zoomOut} disabled={scale <= least} onClick={() => zoom(scale / step)}>
          <Icon name="minus" />
        </button>
        <span aria-live="polite">{Math.round(scale * 100)} %</span>
        <button type="button" className="icon-button" aria-label={words.zoomIn} title={words.zoomIn} disabled={scale >= most} onClick={() => zoom(scale * step)}>
          <Icon name="plus" />
        </button>
        <button type="button" className="quiet" aria-pressed={Math.abs(scale - fit) < 0.005} onClick={() => zoom(fit)}>
          {words.zoomFit}
        </button>
      </div>
      <div ref={frame} className="drawing" role="group" tabIndex={0} aria-label={label}>
        <svg width={width * scale} height={height * scale} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={label}>
          {children}
        </svg>
      </div>
    </div>
  );
}

/** The room an element has, as it changes. */
function useWidth(frame: React.RefObject<HTMLDivElement | null>): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const box = frame.current!;
    const measure = () => setWidth(box.clientWidth);
    measure();
    if (typeof ResizeObserver === 'undefined') return;
    const observer = new ResizeObserver(measure);
    observer.observe(box);
    return () => observer.disconnect();
  }, [frame]);
  return width;
}

function useWheel(frame: React.RefObject<HTMLDivElement | null>, scale: number, zoom: (next: number, place: Point) => void): void {
  useEffect(() => {
    const box = frame.current!;
    // React listens passively, and a passive listener cannot keep the page from zooming.
    const turn = (event: WheelEvent) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const edge = box.getBoundingClientRect();
      zoom(scale * Math.exp(-event.deltaY / 400), { x: event.clientX - edge.left, y: event.clientY - edge.top });
    };
    box.addEventListener('wheel', turn, { passive: false });
    return () => box.removeEventListener('wheel', turn);
  }, [frame, scale, zoom]);
}

/** Keeps what is at a place there while the scale changes; gives the way to say which place. */
function useStill(frame: React.RefObject<HTMLDivElement | null>, scale: number): (place: Point) => void {
  const before = useRef(scale);
  const held = useRef<Point | null>(null);
  useLayoutEffect(() => {
    const ratio = scale / before.current;
    const place = held.current;
    before.current = scale;
    held.current = null;
    if (!place || ratio === 1) return;
    const box = frame.current!;
    box.scrollTo((box.scrollLeft + place.x) * ratio - place.x, (box.scrollTop + place.y) * ratio - place.y);
  }, [frame, scale]);
  return useCallback((place) => {
    held.current = place;
  }, []);
}
