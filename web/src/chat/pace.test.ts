import { describe, expect, it } from 'vitest';
import { pace, shownFor, type Pace } from './pace.ts';

/** Plays arrivals of steps and the answer's beginning; says when each step was in words. */
function play(arrivals: number[], answerAt: number): Map<number, [number, number]> {
  const seen = new Map<number, [number, number]>();
  let current: Pace = { shown: 0, since: null };
  for (let now = 0; now <= 3000; now += 10) {
    const count = arrivals.filter((at) => at <= now).length;
    for (let turn = 0; turn < 3; turn++) current = pace(current, count, now >= answerAt, now).next;
    if (current.shown >= count) continue;
    const span = seen.get(current.shown);
    seen.set(current.shown, [span?.[0] ?? now, now]);
  }
  return seen;
}

// Requirements: UI-24 (at least 300 ms each; cleared at the end)
describe('the pace of statuses', () => {
  it('keeps each one that was shown for 300 ms', () => {
    const seen = play([0, 20, 40], 10_000);
    for (const index of [0, 1]) {
      const [from, to] = seen.get(index)!;
      expect(to - from + 10).toBeGreaterThanOrEqual(shownFor);
    }
    expect(seen.get(2)![0]).toBeLessThanOrEqual(2 * shownFor + 20);
  });

  it('does not hold up an answer for those not yet shown', () => {
    const seen = play([0, 20, 40, 60], 100);
    expect([...seen.keys()]).toEqual([0]);
    expect(seen.get(0)![1]).toBeLessThanOrEqual(shownFor);
  });

  it('says how long to wait', () => {
    expect(pace({ shown: 0, since: 1000 }, 2, false, 1100).wait).toBe(200);
    expect(pace({ shown: 0, since: 1000 }, 1, false, 1100).wait).toBeNull();
    expect(pace({ shown: 0, since: 1000 }, 1, true, 1100).wait).toBe(200);
  });
});
