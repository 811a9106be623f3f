import { describe, expect, it } from 'vitest';
import { age, arrow, difference, openOf, toneOf } from './figures.ts';

// Requirements: CFG-14
describe('figures before and after', () => {
  it('carry a sign, and less of a burden is good news', () => {
    expect(toneOf({ before: 2, after: 5 }, true)).toBe('bad');
    expect(toneOf({ before: 5, after: 2 }, true)).toBe('good');
    expect(toneOf({ before: 5, after: 2 }, false)).toBe('plain');
    expect(toneOf({ before: 2, after: 2 }, true)).toBe('plain');
  });

  it('are written with what lies between', () => {
    expect([arrow({ before: 2, after: 5 }, 'count', 'en'), difference({ before: 2, after: 5 }, 'count', 'en')]).toEqual(['2 → 5', '+3']);
    expect([arrow({ before: 1240, after: 1610 }, 'ms', 'de'), difference({ before: 1240, after: 1610 }, 'ms', 'de')]).toEqual(['1,2 s → 1,6 s', '+30 %']);
    expect(difference({ before: 0.38, after: 0.71 }, 'share', 'en')).toBe('+33 pt');
    expect(difference({ before: 5, after: 2 }, 'count', 'en')).toBe('−3');
    expect([arrow({ before: 4, after: 4 }, 'count', 'en'), difference({ before: 4, after: 4 }, 'count', 'en')]).toEqual(['4', '']);
    expect(difference({ before: 0, after: 0.2 }, 'usd', 'en')).toBe('');
  });

  it('tells an age in the largest unit that fits', () => {
    const now = Date.parse('2026-11-20T12:00:00Z');
    expect(age('2026-11-20T11:59:50Z', now, 'en')).toBe('now');
    expect(age('2026-11-20T09:00:00Z', now, 'en')).toBe('3h ago');
    expect(age('2026-11-18T09:00:00Z', now, 'de')).toBe('vorgestern');
  });
});

// Requirements: GRND-38 (daily series)
it('the parts of a day add up to its turns', () => {
  expect(openOf({ turns: 7, answered: 4, failed: 1, abandoned: 1 })).toBe(1);
  expect(openOf({ turns: 2, answered: 2, failed: 0, abandoned: 0 })).toBe(0);
});
