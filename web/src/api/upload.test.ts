import { expect, test } from 'vitest';
import { refusal } from './upload.ts';

const limits = { max_bytes: 10, extensions: ['.md', 'txt'] };

// Requirements: FILE-09
test.each([
  ['notes.md', 10, null],
  ['NOTES.TXT', 1, null],
  ['notes.md', 11, 'too_large'],
  ['notes.md', 0, 'empty'],
  ['notes.exe', 5, 'wrong_kind'],
  ['notes', 5, 'wrong_kind'],
])('a file %s of %d bytes is refused before it is sent: %s', (name, size, why) => {
  expect(refusal({ name, size }, limits)).toBe(why);
});
