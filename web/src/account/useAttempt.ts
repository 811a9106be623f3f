import { useEffect, useState } from 'react';
import { Failure } from '../api/failure.ts';
import { accountSentence } from './errors.ts';

export interface Attempt {
  busy: boolean;
  problem: string;
  /** Seconds until another try makes sense; counts down to 0. */
  rest: number;
  /** Does the work; true when it went well. */
  go(work: () => Promise<unknown>): Promise<boolean>;
  clear(): void;
}

/** One thing a form tries: that it is under way, what went wrong, and how long to wait. */
export function useAttempt(): Attempt {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState('');
  const [until, setUntil] = useState(0);
  const rest = useRest(until);

  async function go(work: () => Promise<unknown>): Promise<boolean> {
    setBusy(true);
    setProblem('');
    try {
      await work();
      return true;
    } catch (error) {
      setProblem(accountSentence(error));
      if (error instanceof Failure && error.retryAfter > 0) setUntil(Date.now() + error.retryAfter * 1_000);
      return false;
    } finally {
      setBusy(false);
    }
  }
  return { busy, problem, rest, go, clear: () => setProblem('') };
}

/** Whole seconds left until a time. */
function useRest(until: number): number {
  const left = () => Math.max(0, Math.ceil((until - Date.now()) / 1_000));
  const [, tick] = useState(0);
  useEffect(() => {
    if (until <= Date.now()) return;
    const timer = setInterval(() => {
      tick((n) => n + 1);
      if (until <= Date.now()) clearInterval(timer);
    }, 1_000);
    return () => clearInterval(timer);
  }, [until]);
  return left();
}
