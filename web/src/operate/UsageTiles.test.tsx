import { act } from 'react';
import { createRoot } from 'react-dom/client';
import { beforeEach, expect, it } from 'vitest';
import type { Insights } from '../api/insights.ts';
import { setLanguage } from '../i18n/index.ts';
import { Tiles } from './UsageTiles.tsx';

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });

beforeEach(() => setLanguage('en'));

/** What is marked, and how, of turns a working day, the rate of tools, and calls a turn. */
function marks(turns: number | null, rate: number | null, calls: number | null): string[] {
  const insights = {
    turns: 7, people: 2, turns_per_working_day: turns, tool_use_rate: rate, tool_calls_per_turn: calls, abandonment_rate: null,
    times: { known: 0, median_ms: null, p90_ms: null }, used: { calls: 0, tokens_used: 0, cost_usd: 0 },
  } as unknown as Insights;
  const box = document.createElement('div');
  const root = createRoot(box);
  act(() => root.render(<Tiles insights={insights} />));
  const found = [...box.querySelectorAll<HTMLElement>('[data-tone]')].map((one) => `${one.dataset['tone']}: ${one.textContent.trim()}`);
  act(() => root.unmount());
  return found;
}

// Requirements: GRND-40 (its thresholds)
it('figures are marked at the bounds that were set, and not between them', () => {
  expect(marks(3, 0.5, 1.5)).toEqual(['good: ✓ At least 3 a working day.', 'good: ✓ At least 50 %.']);
  expect(marks(2.99, 0.499, 2)).toEqual([]);
  expect(marks(1, 0.3, null)).toEqual([]);
  expect(marks(0.99, 0.29, 1.49)).toEqual(['bad: Under 1 a working day.', 'bad: Under 30 %.', 'bad: Under 1.5.']);
  expect(marks(null, null, null)).toEqual([]);
});
