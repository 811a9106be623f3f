import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ask } from '../api/ask.ts';
import { queryClient } from '../api/queries.ts';
import { sentence } from '../i18n/errors.ts';
import { Card } from '../operate/parts.tsx';
import { audible, hush, readAloud } from './player.ts';
import { useVoiceWords } from './words.ts';

const key = ['settings'];

/** Whose voice reads answers aloud (CHAT-21). */
export default function VoiceCard() {
  const words = useVoiceWords();
  const kept = useQuery({ queryKey: key, queryFn: ({ signal }) => ask('settings', { signal }) }).data;
  const [typed, setTyped] = useState<string | null>(null);
  const [said, setSaid] = useState('');
  const [problem, setProblem] = useState('');
  if (!kept) return null;

  async function act(then: () => Promise<void>) {
    setSaid('');
    setProblem('');
    try {
      await then();
    } catch (error) {
      setProblem(sentence(error));
    }
  }
  const save = () =>
    act(async () => {
      queryClient.setQueryData(key, await ask('changeSettings', { body: { default_voice: (typed ?? kept.default_voice).trim() } }));
      setTyped(null);
      setSaid(words.saved);
    });
  const listen = () => act(() => (audible() ? readAloud('sample', [words.sample]) : Promise.reject(words.mute)));

  return (
    <Card title={words.voice}>
      <form
        className="voice-form"
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <label>
          {words.voice}
          <input value={typed ?? kept.default_voice} maxLength={64} autoComplete="off" spellCheck={false} aria-describedby="voice-hint" onChange={(event) => setTyped(event.target.value)} />
        </label>
        <button type="submit">{words.save}</button>
        <button type="button" onClick={() => (hush('sample'), void listen())}>
          {words.hear}
        </button>
      </form>
      <p id="voice-hint" className="hint">
        {words.voiceHint}
      </p>
      {problem && (
        <p className="voice-problem" role="alert">
          {problem}
        </p>
      )}
      <p className="hidden" role="status">
        {said}
      </p>
    </Card>
  );
}
