import { afterEach, describe, expect, it } from 'vitest';
import { failureFrom, failureOf } from '../api/failure.ts';
import { de } from '../i18n/de.ts';
import { en } from '../i18n/en.ts';
import { setLanguage } from '../i18n/index.ts';
import { wait } from '../i18n/errors.ts';
import { accountSentence, clock } from './errors.ts';

function refusal(status: number, details: unknown, retryAfter = 0) {
  return failureFrom(status, JSON.stringify({ error: { code: 'x', message: 'as the server said it', details } }), retryAfter);
}

afterEach(() => setLanguage('en'));

describe('a refusal', () => {
  it.each([
    [refusal(401, { reason: 'code_wrong' }), de.codeWrong],
    [refusal(400, { reason: 'code_used' }), de.codeUsed],
    [refusal(401, { reason: 'recovery_wrong' }), de.recoveryWrong],
    [refusal(401, { reason: 'ticket_unknown' }), de.ticketGone],
    [refusal(403, { reason: 'unverified' }), de.unverifiedLate],
    [refusal(400, { field: 'token' }), de.linkSpent],
    [refusal(400, { field: 'old_password' }), de.passwordWrong],
    [refusal(429, { reason: 'mfa_locked' }, 299), de.codesLocked('5 Minuten')],
    [refusal(429, { reason: 'recovery_locked' }, 30), de.recoveryLocked('30 Sekunden')],
    [refusal(429, { rule: 'auth.signin' }, 31), de.tooOften('31 Sekunden')],
    [refusal(429, null), 'as the server said it'],
    [refusal(400, null), 'as the server said it'],
    [refusal(409, { reason: 'no_password' }), de.noPassword],
    [refusal(400, { reason: 'common_password' }), de.passwordCommon],
    [refusal(409, { reason: 'link_needed' }), 'as the server said it'],
  ])('is told in the language of the page, or as the server said it: %#', (failure, want) => {
    setLanguage('de');
    expect(accountSentence(failure)).toBe(want);
  });

  it('carries how long to wait', async () => {
    const answer = (header: string) => failureOf(new Response('{}', { status: 429, headers: { 'Retry-After': header } }));
    expect((await answer('287')).retryAfter).toBe(287);
    expect((await answer('Fri, 20 Nov 2026 17:00:00 GMT')).retryAfter).toBe(0);
    expect((await failureOf(new Response('', { status: 400 }))).retryAfter).toBe(0);
  });
});

it('a wait is never said shorter than it is', () => {
  expect([wait(0, en), wait(1, en), wait(89, en), wait(90, en), wait(121, en)]).toEqual(['1 second', '1 second', '89 seconds', '2 minutes', '3 minutes']);
  expect([clock(300), clock(65), clock(9)]).toEqual(['5:00', '1:05', '0:09']);
});
