import { useEffect, useId, useState } from 'react';
import { sentence } from '../i18n/errors.ts';
import { useStore } from '../lib/store.ts';
import { VoiceIcon } from './VoiceIcon.tsx';
import { audible, hush, playing, readAloud } from './player.ts';
import { pieces, spoken } from './spoken.ts';
import { useVoiceWords } from './words.ts';

/** A loudspeaker at an answer (CHAT-21). */
export default function Aloud({ text }: { text: string }) {
  const words = useVoiceWords();
  const id = useId();
  const now = useStore(playing);
  const [problem, setProblem] = useState('');
  const mine = now?.of === id ? now : null;
  useEffect(() => () => hush(id), [id]);

  async function begin() {
    setProblem('');
    if (!audible()) return setProblem(words.mute);
    try {
      await readAloud(id, pieces(spoken(text)));
    } catch (error) {
      setProblem(words.aloudFailed(sentence(error)));
    }
  }

  const label = mine ? words.stopAloud : words.aloud;
  return (
    <>
      <button
        type="button"
        className="act aloud"
        aria-label={label}
        title={mine && !mine.heard ? words.preparing : label}
        aria-pressed={mine !== null}
        aria-busy={mine !== null && !mine.heard}
        onClick={() => (mine ? hush() : void begin())}
      >
        <VoiceIcon name={mine ? 'quiet' : 'loud'} />
      </button>
      {problem && (
        <span className="voice-problem" role="alert">
          {problem}
        </span>
      )}
    </>
  );
}
