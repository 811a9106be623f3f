import { useEffect, useState } from 'react';
import { validate } from '../api/artifacts.ts';
import type { Problem } from '../api/changes.ts';
import { sentence } from '../i18n/errors.ts';

export interface Found {
  looking: boolean;
  problems: Problem[];
  warnings: Problem[]; // what a document without problems hardly means
  trouble: string; // why nobody could look
}

const pause = 450; // ms without a letter before the server is asked
const none: Found = { looking: false, problems: [], warnings: [], trouble: '' };

/** Everything wrong with a document, looked for whenever it has changed; undefined has no form to look at. */
export function useFaults(type: string, doc: unknown): Found {
  const [found, setFound] = useState<Found>({ ...none, looking: true });
  useEffect(() => {
    if (doc === undefined || type === '') return setFound(none);
    const stop = new AbortController();
    setFound((last) => ({ ...last, looking: true }));
    const timer = setTimeout(() => {
      validate(type, doc, stop.signal)
        .then((checked) => setFound({ ...none, problems: checked.valid ? [] : problemsOf(checked), warnings: checked.warnings ?? [] }))
        .catch((error: unknown) => {
          if (!stop.signal.aborted) setFound({ ...none, trouble: sentence(error) });
        });
    }, pause);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [type, doc]);
  return found;
}

function problemsOf({ message, problems }: { message?: string; problems: Problem[] | null }): Problem[] {
  return Array.isArray(problems) && problems.length > 0 ? problems : [{ path: '', message: message ?? '' }];
}
