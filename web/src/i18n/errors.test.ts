import { afterEach, describe, expect, it } from 'vitest';
import { Failure, failureFrom, failureOfCode } from '../api/failure.ts';
import { de } from './de.ts';
import { en } from './en.ts';
import { sentence } from './errors.ts';
import { setLanguage } from './index.ts';

const refusal = (status: number, message: string, details: unknown, retryAfter = 0) => failureFrom(status, JSON.stringify({ error: { code: 'x', message, details } }), retryAfter);
const unforeseen = 'Something went wrong on our side. Try again; if it stays, give the request id to whoever runs this server.';

afterEach(() => setLanguage('en'));

// Requirements: GRND-37 (rate_limited; errors)
describe('what is said of an error', () => {
  it.each([
    [refusal(429, 'Too many requests. Try again in 31 seconds.', { rule: 'chat' }, 31), 'Zu viele Versuche. Versuch es wieder in 31 Sekunden.', 'Too many tries. Try again in 31 seconds.'],
    [failureOfCode('rate_limited', 'Too many requests.', { rule: 'chat', retry_after: 120 }), 'Zu viele Versuche. Versuch es wieder in 2 Minuten.', 'Too many tries. Try again in 2 minutes.'],
    [failureFrom(429, JSON.stringify({ error: { message: 'Too many requests.', type: 'requests', param: null, code: 'rate_limit_exceeded' } }), 31), 'Zu viele Versuche. Versuch es wieder in 31 Sekunden.', 'Too many tries. Try again in 31 seconds.'],
    [refusal(500, unforeseen, undefined), de.serverFailed, en.serverFailed],
    [failureFrom(502, '<html>Bad gateway</html>'), de.serverFailed, en.serverFailed],
    [new Failure(0, 'server_error', 'fetch failed'), de.unreachable, en.unreachable],
  ])('is in the reader’s language: %#', (failure, german, english) => {
    expect(german).not.toBe(english);
    setLanguage('de');
    expect(sentence(failure)).toBe(german);
    setLanguage('en');
    expect(sentence(failure)).toBe(english);
  });

  it.each([
    refusal(429, '3 of your documents are still being read, and there may be 3 at once.', { rule: 'files.under_way' }, 1),
    refusal(429, 'The budget is used up.', { reason: 'budget' }, 0),
    refusal(500, 'The model m cannot be opened: its file is cut short.', undefined),
    refusal(409, 'It was changed meanwhile.', undefined),
  ])('is the server’s own sentence where that says more: %#', (failure) => {
    setLanguage('de');
    expect(sentence(failure)).toBe(failure.message);
  });
});
