// A run that met what rests: a model, or a tool, that failed again and again.

import type { RunProblem } from '../api/types.ts';
import type { Dictionary } from '../i18n/en.ts';
import type { Language } from '../i18n/index.ts';
import { clock } from '../lib/format.ts';

/**
 * Why a run failed, for a person. The server tells when what rests is called
 * again by its own clock; the reader is told by theirs (ISO-09).
 */
export function resting(problem: RunProblem | null | undefined, words: Dictionary, language: Language, now = new Date()): string {
  const at = Date.parse(problem?.retry_at ?? '');
  if (!problem || Number.isNaN(at)) return problem?.message ?? '';
  const time = clock(at, now, language);
  if (problem.reason === 'upstream') return words.modelRests(time);
  return problem.message.replace(/\d\d:\d\d:\d\d UTC/, time);
}
