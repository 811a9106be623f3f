import { afterEach, expect, test, vi } from 'vitest';
import { refusal, upload } from './upload.ts';

const limits = { max_bytes: 10, extensions: ['.md', 'txt'] };

afterEach(() => vi.unstubAllGlobals());

test('what was given up before it could be sent is not sent', async () => {
  const request = vi.fn();
  vi.stubGlobal('XMLHttpRequest', request);
  const sending = upload(new File(['x'], 'x.md'), { contextID: 'c' }, AbortSignal.abort(), () => undefined);
  await expect(sending).rejects.toMatchObject({ name: 'AbortError' });
  expect(request).not.toHaveBeenCalled();
});

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
