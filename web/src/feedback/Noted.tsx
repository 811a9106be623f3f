import { useContext, useEffect } from 'react';
import { keys, queryClient } from '../api/queries.ts';
import type { Message } from '../api/types.ts';
import { ChangeContext } from '../chat/change.ts';
import { useWords } from '../i18n/index.ts';
import { notedIn } from './read.ts';
import { removeFeedback, useStanding } from './state.ts';

/** Under a person's words: that they were understood as feedback, and the way back. */
export function Noted({ message, heeded }: { message: Message; heeded: boolean }) {
  const words = useWords();
  const conversation = useContext(ChangeContext)?.conversation ?? '';
  const noted = notedIn(message);
  useArrival(conversation, heeded && noted === null);
  const { busy } = useStanding(noted?.message ?? '', null);
  if (!noted) return null;
  return (
    <p className="noted">
      <span role="status">{noted.undone ? words.notedUndone : words.noted(noted.signal)}</span>
      {!noted.undone && conversation && (
        <button
          type="button"
          className="deed-link"
          aria-disabled={busy}
          onClick={() => {
            const said = { id: noted.id, signal: noted.signal, notes: '', corrected_text: '' };
            void removeFeedback({ conversation, message: noted.message }, said, false);
          }}
        >
          {words.feedbackUndo}
        </button>
      )}
    </p>
  );
}

const looks = [700, 1_500, 4_000, 9_000]; // ms after the turn's end

/** What a message says is noted right after its turn: looks for it until it is there. */
function useArrival(conversation: string, expected: boolean) {
  useEffect(() => {
    if (!expected || !conversation) return;
    const timers = looks.map((ms) => setTimeout(() => void queryClient.invalidateQueries({ queryKey: keys.thread(conversation) }), ms));
    return () => timers.forEach(clearTimeout);
  }, [conversation, expected]);
}
