import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createPulse, longest, restAfter, shortest } from './pulse.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

describe('how often arriving text is shown', () => {
  it('is as often as a page that is quick about it can', () => {
    expect(restAfter(2, 2)).toBe(shortest);
  });

  it('is less often the more it costs, and never seems to stop', () => {
    expect(restAfter(50, 0)).toBe(150);
    expect(restAfter(50, 90)).toBe(210); // slower at once, faster by and by
    expect(restAfter(1_000, 0)).toBe(longest);
  });

  it('shows many beats once, and the last of them for certain', () => {
    let text = '';
    const shown: string[] = [];
    const pulse = createPulse(() => shown.push(text));
    for (const word of ['a', 'b', 'c']) {
      text += word;
      pulse.beat();
    }
    expect(shown).toEqual([]);
    vi.advanceTimersByTime(shortest);
    expect(shown).toEqual(['abc']);
    text = 'all';
    pulse.beat();
    pulse.now();
    vi.advanceTimersByTime(longest);
    expect(shown).toEqual(['abc', 'all']);
  });
});
