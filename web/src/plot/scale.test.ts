import { describe, expect, test } from 'vitest';
import { columnOf, labelled, lineOf, topOf } from './scale.ts';

describe('an axis', () => {
  test('ends at a round figure that nothing goes beyond', () => {
    expect([0, 1, 3, 4, 7, 10, 11, 380, 0.004].map((value) => topOf([value], 0.001))).toEqual([0.001, 1, 4, 4, 8, 10, 20, 400, 0.004]);
    expect(topOf([])).toBe(1);
    expect(topOf([Number.NaN, 2])).toBe(2);
  });

  test('names its ends, and little between', () => {
    expect(labelled(0)).toEqual([]);
    expect(labelled(2)).toEqual([0, 1]);
    expect(labelled(7)).toEqual([0, 3, 6]);
    expect(labelled(90)).toEqual([0, 45, 89]);
  });
});

test('columns stand side by side and within the plot', () => {
  for (const count of [1, 7, 28, 90]) {
    const columns = Array.from({ length: count }, (_, index) => columnOf(index, count));
    for (const [index, one] of columns.entries()) {
      expect(one.x).toBeGreaterThanOrEqual(0);
      expect(one.x + one.width).toBeLessThanOrEqual(columns[index + 1]?.x ?? 100);
    }
  }
});

test('a line breaks off where nothing is known', () => {
  expect(lineOf([10, 5, null, 0, null, null, 10], 10)).toBe('M7.14 0L21.43 50M50 100M92.86 0');
  expect(lineOf([null, null], 10)).toBe('');
});
