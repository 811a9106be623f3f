import { useMemo, useState } from 'react';
import { useRaw } from '../api/palace.ts';
import { sentence } from '../i18n/errors.ts';
import { language, useWords } from '../i18n/index.ts';
import { useStore } from '../lib/store.ts';
import { Code } from '../markdown/Code.tsx';
import { Loading } from '../operate/parts.tsx';
import { framesOf } from './content.ts';
import { sinceBegun, unknown } from './figures.ts';
import { usePalaceWords } from './words.ts';

function useBytes(id: string) {
  const raw = useRaw(id, true);
  const problem = raw.isError && (
    <p role="alert" className="problem">
      {sentence(raw.error)}
    </p>
  );
  return { text: raw.data, instead: problem || <Loading /> };
}

/** A block as it came, to the byte. */
export function Raw({ id }: { id: string }) {
  const { text, instead } = useBytes(id);
  return text === undefined ? instead : <Code text={text} language="" closed />;
}

const page = 200; // events shown at once

/** The events that an answer's block came in, each with when it was there. */
export function Frames({ id, came }: { id: string; came: number[] }) {
  const words = usePalaceWords();
  const { text, instead } = useBytes(id);
  const shell = useWords();
  const locale = useStore(language);
  const [shown, setShown] = useState(page);
  const frames = useMemo(() => framesOf(text ?? ''), [text]);
  if (text === undefined) return instead;
  return (
    <>
      <p className="hint">{words.framesLead(frames.length)}</p>
      <ol className="frames">
        {frames.slice(0, shown).map((frame, at) => (
          <li key={at}>
            <time>{came.length === frames.length ? sinceBegun(came[at]!, locale) : unknown}</time>
            <b>{frame.event}</b>
            <code>{frame.data}</code>
          </li>
        ))}
      </ol>
      {frames.length > shown && (
        <button type="button" className="quiet" onClick={() => setShown(shown + page)}>
          {shell.showMore}
        </button>
      )}
    </>
  );
}
