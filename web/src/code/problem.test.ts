import { expect, it } from 'vitest';
import { readJSON } from './problem.ts';

it('reads what is JSON', () => {
  for (const value of [{ a: [1, -2.5e3, 'x\n"y"', true, null, {}, []] }, [], 'text', 7]) expect(readJSON(JSON.stringify(value, null, 2))).toEqual({ value, broken: null });
});

it.each([
  ['{"a": ‸x}', 'a word that is none'],
  ['{"a": 1‸', 'an end that comes early'],
  ['‸', 'nothing at all'],
  ['{"a": 1 ‸"b": 2}', 'a comma left out'],
  ['{"a": 1, ‸}', 'a comma too many'],
  ['[1, ‸]', 'a comma too many in a list'],
  ['{"a" ‸1}', 'a colon left out'],
  ['{‸a: 1}', 'a name without quotes'],
  ['{"a": ‸"open\n}', 'a string that does not end'],
  ['{"a": [1‸}', 'a bracket of the other kind'],
  ['{} ‸{}', 'something behind the end'],
  ['[‸01]', 'a number that is none'],
])('finds the place in %s: %s', (marked) => {
  const text = marked.replace('‸', '');
  // 0 is a number, and the 1 behind it is one too many.
  expect(readJSON(text).broken?.at).toBe(marked === '[‸01]' ? 2 : marked.indexOf('‸'));
});

it('counts lines and columns from 1', () => {
  expect(readJSON('{\n  "a": x\n}').broken).toEqual({ at: 9, line: 2, column: 8 });
});
