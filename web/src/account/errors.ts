// Refusals the account's pages expect, in the reader's language. Everything
// else keeps the sentence the server wrote.

import { Failure } from '../api/failure.ts';
import { sentence, wait } from '../i18n/errors.ts';
import type { Dictionary } from '../i18n/en.ts';
import { words as dictionary } from '../i18n/index.ts';

export function accountSentence(error: unknown): string {
  const known = error instanceof Failure ? expected(error, dictionary()) : '';
  return known || sentence(error);
}

function expected(failure: Failure, words: Dictionary): string {
  const reason = failure.detail('reason');
  const field = failure.detail('field');
  if (reason === 'mfa_locked') return words.codesLocked(wait(failure.retryAfter, words));
  if (reason === 'recovery_locked') return words.recoveryLocked(wait(failure.retryAfter, words));
  if (reason === 'code_wrong') return words.codeWrong;
  if (reason === 'code_used') return words.codeUsed;
  if (reason === 'recovery_wrong') return words.recoveryWrong;
  if (reason === 'ticket_unknown') return words.ticketGone;
  if (reason === 'common_password') return words.passwordCommon;
  if (reason === 'no_password') return words.noPassword;
  if (reason === 'confirm_first') return words.confirmFirst;
  if (reason === 'sign_in_again') return words.signInAgain;
  if (reason === 'unverified') return words.unverifiedLate;
  if (failure.status === 400 && field === 'tenant_id') return words.noTenant;
  if (field === 'token') return words.linkSpent;
  if (failure.status === 400 && (field === 'password' || field === 'old_password')) return words.passwordWrong;
  if (failure.status === 429 && failure.retryAfter > 0) return words.tooOften(wait(failure.retryAfter, words));
  return '';
}

/** A wait as a clock, for a button that counts it down. */
export function clock(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
