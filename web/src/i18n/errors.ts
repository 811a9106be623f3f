import { Failure } from '../api/failure.ts';
import type { Dictionary } from './en.ts';
import { words } from './index.ts';
import { told } from './said.ts';

/** What is written of a failure nobody foresaw, by the server or in place of an answer that is none of its. */
const unsaid = /^(Something went wrong on our side\.|HTTP \d+$)/;

/** Rules whose sentence says more than when to try again. */
const telling = ['files.under_way', 'files.at_once'];

/**
 * What is said to a person about an error: the server's own sentence, where it
 * wrote one that says more than the reader's language can say for it.
 */
export function sentence(error: unknown): string {
  if (!(error instanceof Failure)) return String(error);
  if (error.unreachable) return words().unreachable;
  const rule = error.detail('rule');
  if (error.status === 429 && error.retryAfter > 0 && rule !== '' && !telling.includes(rule)) return words().tooOften(wait(error.retryAfter, words()));
  if (error.status >= 500 && unsaid.test(error.message)) return words().serverFailed;
  return told(error.message, error.said);
}

/** A wait in words: minutes from ninety seconds on, rounded up so that nobody comes too early. */
export function wait(seconds: number, { seconds: few, minutes }: Dictionary): string {
  return seconds < 90 ? few(Math.max(1, seconds)) : minutes(Math.ceil(seconds / 60));
}
