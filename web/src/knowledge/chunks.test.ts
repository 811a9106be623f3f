import { expect, it } from 'vitest';
import { chunkSizeOf } from './chunks.ts';

// Requirements: FILE-10
it.each([
  ['', undefined],
  ['  ', undefined],
  ['64', 64],
  [' 4000 ', 4000],
  ['63', null],
  ['4001', null],
  ['1e3', null],
  ['-64', null],
  ['64.5', null],
  ['many', null],
])('a passage size of %j is %j', (text, size) => {
  expect(chunkSizeOf(text)).toBe(size);
});
