import { useContext } from 'react';
import { useWords } from '../i18n/index.ts';
import { ChangeContext } from './change.ts';

/** Why a conversation cannot be changed now; empty when it can. */
export function useLockReason(): string {
  const words = useWords();
  const lock = useContext(ChangeContext)?.lock ?? null;
  if (lock === 'question') return words.changeAfterQuestion;
  return lock === 'run' ? words.changeAfterRun : '';
}
