// What messages carry of feedback, read with care: their meta is open.

import type { Feedback } from '../api/gen.ts';
import type { Message } from '../api/types.ts';

export type Signal = Feedback['signal'];

/** What a person's message was heard to say of an answer (PREF-02). */
export interface Noted {
  id: number;
  signal: Signal;
  message: string; // the answer
  undone: boolean;
}

const signals: ReadonlySet<unknown> = new Set<Signal>(['like', 'dislike', 'always', 'never']);

export function notedIn(message: Message | null): Noted | null {
  const noted = message?.meta?.['noted'] as Record<string, unknown> | null | undefined;
  if (!noted || typeof noted['preference_id'] !== 'number' || typeof noted['message_id'] !== 'string' || !signals.has(noted['signal'])) return null;
  return { id: noted['preference_id'], signal: noted['signal'] as Signal, message: noted['message_id'], undone: noted['undone'] === true };
}

/** Whether something may be learnt of an answer: one that was withheld or judged unsafe takes no feedback (PREF-03). */
export function learnable(answer: Message | null): boolean {
  if (!answer) return true; // it was just given, and says itself what became of it
  const judged = answer.meta?.['safety'] as { risk?: unknown } | null | undefined;
  const replaced = (answer.content_struct?.segments ?? []).some((one) => one.type === 'redaction' && one.text && one.text === answer.content.trim());
  return answer.meta?.suppressed !== true && judged?.risk !== 'high' && !replaced;
}
