import { afterEach, expect, test, vi } from 'vitest';
import { Failure } from './failure.ts';
import { patiently, pauseAfter, refusal, upload } from './upload.ts';

const limits = { max_bytes: 10, extensions: ['.md', 'txt'] };

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

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

const told = (status: number, seconds: number) => new Failure(status, 'code', '', undefined, seconds);
const full = new Failure(409, 'conflict', '', { reason: 'storage' });

// Requirements: FILE-08, API-16
test.each([
  ['who is told to wait waits so long', told(429, 7), 1, 7_000],
  ['as often as they are told', told(429, 7), 500, 7_000],
  ['longer each time where nobody says how long', told(429, 0), 3, 4_000],
  ['one that is not there', told(0, 0), 1, 1_000],
  ['one that is starting', told(503, 5), 2, 5_000],
  ['not for ever', told(0, 0), 8, null],
  ['one that breaks is tried thrice', told(500, 0), 2, 2_000],
  ['and no more', told(500, 0), 3, null],
  ['there is no room', full, 1, null],
  ['the file is at fault', told(400, 0), 1, null],
  ['anything else', new TypeError('broken'), 1, null],
])('%s', (_, error, times, pause) => {
  expect(pauseAfter(error, times)).toBe(pause);
});

// Requirements: FILE-08
test('what is refused for now is done again once the pause is over, unless it is given up', async () => {
  vi.useFakeTimers();
  const abort = new AbortController();
  const act = vi.fn().mockRejectedValueOnce(told(429, 3)).mockResolvedValueOnce('sent').mockRejectedValue(told(429, 3));
  const waits = vi.fn();
  const first = patiently(act, abort.signal, waits);
  await vi.advanceTimersByTimeAsync(2_900);
  expect([act.mock.calls.length, waits.mock.calls.length]).toEqual([1, 1]);
  await vi.advanceTimersByTimeAsync(100);
  await expect(first).resolves.toBe('sent');
  const second = patiently(act, abort.signal);
  const refused = expect(second).rejects.toMatchObject({ name: 'AbortError' });
  await vi.advanceTimersByTimeAsync(10_000);
  abort.abort();
  await refused;
  expect(act).toHaveBeenCalledTimes(6);
});

// Requirements: API-16
test('a refusal brings along how long to wait', async () => {
  class Refused extends EventTarget {
    upload = new EventTarget();
    status = 429;
    responseText = '{"error":{"code":"rate_limited","message":"Later."}}';
    open = () => undefined;
    setRequestHeader = () => undefined;
    getResponseHeader = (name: string) => (name === 'Retry-After' ? '6' : null);
    send = () => this.dispatchEvent(new Event('load'));
  }
  vi.stubGlobal('XMLHttpRequest', Refused);
  const sending = upload(new File(['x'], 'x.md'), { contextID: 'c' }, new AbortController().signal, () => undefined);
  await expect(sending).rejects.toMatchObject({ status: 429, retryAfter: 6, message: 'Later.' });
});
