import type { Feedback } from '../api/gen.ts';
import { useWords } from '../i18n/index.ts';
import { Icon } from '../shell/Icon.tsx';
import { isUp, removeFeedback, saveFeedback, useStanding, type FeedbackInput, type Target } from './state.ts';

interface Props {
  target: Target | null; // null: there is no answer yet
  stored: Feedback | null;
  /** What goes with a press: a note that is written already. */
  with?: Omit<FeedbackInput, 'signal'>;
}

/** One press says it; the same press again takes it back. */
export function Thumbs({ target, stored, with: more }: Props) {
  const words = useWords();
  const { feedback, busy } = useStanding(target?.message ?? '', stored);

  function press(up: boolean) {
    if (!target || busy) return;
    if (feedback && isUp(feedback.signal) === up) void removeFeedback(target, feedback, true);
    else void saveFeedback(target, feedback, { signal: up ? 'like' : 'dislike', ...more });
  }

  return (
    <span className="acts thumbs" role="group" aria-label={words.feedbackGroup} aria-busy={busy} data-standing={feedback ? '' : undefined}>
      {[true, false].map((up) => (
        <button
          key={String(up)}
          type="button"
          className="act"
          data-thumb={up ? 'up' : 'down'}
          aria-label={up ? words.feedbackUp : words.feedbackDown}
          title={up ? words.feedbackUp : words.feedbackDown}
          aria-pressed={feedback !== null && isUp(feedback.signal) === up}
          disabled={target === null}
          onClick={() => press(up)}
        >
          <Icon name={up ? 'thumbUp' : 'thumbDown'} />
        </button>
      ))}
    </span>
  );
}
