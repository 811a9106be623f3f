import { useCallback, useEffect, useRef, useState } from 'react';
import { notice } from '../chat/commands.ts';
import { sentence } from '../i18n/errors.ts';
import { VoiceIcon } from './VoiceIcon.tsx';
import { record, type Recording } from './recorder.ts';
import { transcribe } from './server.ts';
import { useVoiceWords } from './words.ts';

interface Props {
  draftKey: string;
  /** Why nothing may be written now; '': it may. */
  off: boolean;
  /** Puts words where the caret is; they are never sent by themselves (CHAT-21). */
  write(text: string): void;
}

type State = 'idle' | 'asking' | 'recording' | 'writing';

/** Dictation: press to begin, press to stop, Escape discards. */
export default function Microphone({ draftKey, off, write }: Props) {
  const words = useVoiceWords();
  const [state, setState] = useState<State>('idle');
  const [said, setSaid] = useState(''); // told to who cannot see it
  const [seconds, setSeconds] = useState(0);
  const recording = useRef<Recording>(null);
  const away = useRef<AbortController>(null); // ends whatever is under way

  const end = useCallback(() => {
    away.current?.abort();
    recording.current?.discard();
    away.current = recording.current = null;
  }, []);
  useEffect(() => end, [end]);

  function failed(why: string) {
    setState('idle');
    setSaid('');
    notice(draftKey, why);
  }

  async function begin() {
    const own = (away.current = new AbortController());
    setState('asking');
    notice(draftKey, '');
    const got = await record(finish);
    if (own.signal.aborted) return typeof got === 'string' ? undefined : got.discard();
    if (typeof got === 'string') return failed(words[got]);
    recording.current = got;
    setSeconds(0);
    setState('recording');
    setSaid(words.started);
  }

  /** What was recorded, however the recording ended; null: it broke off and there is nothing. */
  async function finish(sound: Blob | null) {
    recording.current = null;
    const own = away.current;
    if (!own || own.signal.aborted) return;
    if (!sound) return failed(words.broke);
    setState('writing');
    setSaid(words.writing);
    try {
      const text = await transcribe(sound, own.signal);
      if (own.signal.aborted) return;
      setState('idle');
      if (text === '') return failed(words.nothing);
      setSaid(words.written(text));
      write(text);
    } catch (error) {
      if (!own.signal.aborted) failed(words.dictationFailed(sentence(error)));
    }
  }

  const discard = useCallback(() => {
    end();
    setState('idle');
    setSaid(words.discarded);
  }, [end, words]);

  useEffect(() => {
    if (state === 'idle') return;
    const key = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return;
      event.preventDefault();
      event.stopPropagation();
      discard();
    };
    document.addEventListener('keydown', key, true);
    return () => document.removeEventListener('keydown', key, true);
  }, [state, discard]);

  useEffect(() => {
    if (state !== 'recording') return;
    const timer = setInterval(() => setSeconds((n) => n + 1), 1_000);
    return () => clearInterval(timer);
  }, [state]);

  const clock = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
  const on = state === 'recording';
  const busy = state === 'asking' || state === 'writing' || (off && state === 'idle'); // never disabled: that would take the focus away
  return (
    <>
      {on && (
        <span className="clock" aria-hidden="true" title={words.recording(clock)}>
          {clock}
        </span>
      )}
      {state === 'writing' && (
        <span className="clock" aria-hidden="true">
          {words.writing}
        </span>
      )}
      <button
        type="button"
        className="round mic"
        data-state={state}
        aria-label={on ? words.stop : words.dictate}
        title={on ? words.stopTitle : words.dictate}
        aria-pressed={on}
        aria-disabled={busy}
        onClick={() => (on ? recording.current?.stop() : busy || void begin())}
      >
        <VoiceIcon name="microphone" />
      </button>
      <span className="hidden" role="status">
        {said}
      </span>
    </>
  );
}
