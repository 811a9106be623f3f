// A run that met what rests: a model, or a tool, that failed again and again.

import type { RunProblem } from '../api/types.ts';
import type { Dictionary } from '../i18n/en.ts';
import type { Language } from '../i18n/index.ts';
import { told } from '../i18n/said.ts';
import { clock } from '../lib/format.ts';

/**
 * Why a run failed, for a person. The server tells when what rests is called
 * again by its own clock; the reader is told by theirs (ISO-09).
 */
export function resting(problem: RunProblem | null | undefined, words: Dictionary, language: Language, now = new Date()): string {
  const at = Date.parse(problem?.retry_at ?? '');
  const text = problem ? told(problem.message, problem.said) : '';
  if (!problem || Number.isNaN(at)) return text;
  const time = clock(at, now, language);
  if (problem.reason === 'upstream') return words.modelRests(time);
  return text.replace(/\d\d:\d\d:\d\d UTC/, time);
}
