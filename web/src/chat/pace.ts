// A status that was shown stays at least 300 ms, so that it can be read; once
// the answer begins, those not yet shown settle onto the rail unshown, so that
// nothing waits for them (web.md §3, the 300 ms rule).

import { useEffect, useState } from 'react';

export const shownFor = 300; // ms

export interface Pace {
  shown: number; // index of the step in words; those before it have settled
  since: number | null; // when it came on screen; null while it has not come yet
}

export interface Beat {
  next: Pace;
  wait: number | null; // ask again after so many ms; null: only when something changes
}

/** Says which of count steps to show in words. over: the answer has begun, or the run has stopped. */
export function pace(current: Pace, count: number, over: boolean, now: number): Beat {
  const left = current.since === null ? 0 : shownFor - (now - current.since);
  if (over) {
    if (left > 0) return { next: current, wait: left };
    return { next: moved(current, count, null), wait: null };
  }
  if (current.shown >= count) return { next: current, wait: null };
  const more = (index: number) => (index < count - 1 ? shownFor : null);
  if (current.since === null) return { next: { shown: current.shown, since: now }, wait: more(current.shown) };
  if (current.shown === count - 1) return { next: current, wait: null };
  if (left > 0) return { next: current, wait: left };
  return { next: { shown: current.shown + 1, since: now }, wait: more(current.shown + 1) };
}

function moved(current: Pace, shown: number, since: number | null): Pace {
  return current.shown === shown && current.since === since ? current : { shown, since };
}

/** The index of the step to show in words; count when all have settled. */
export function usePace(count: number, over: boolean): number {
  const [current, setCurrent] = useState<Pace>(() => ({ shown: over ? count : Math.max(0, count - 1), since: null }));
  const [beat, setBeat] = useState(0);
  useEffect(() => {
    const { next, wait } = pace(current, count, over, Date.now());
    if (next !== current) setCurrent(next);
    if (wait === null) return;
    const timer = setTimeout(() => setBeat(beat + 1), wait);
    return () => clearTimeout(timer);
  }, [current, count, over, beat]);
  return current.shown;
}
