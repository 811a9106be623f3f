import { memo, useDeferredValue, useEffect, useRef, useState, type ReactNode } from 'react';
import { loadEarlier } from '../api/thread.ts';
import { sentence } from '../i18n/errors.ts';
import { useWords } from '../i18n/index.ts';
import { useStore } from '../lib/store.ts';
import { editing } from './change.ts';
import { followerOf, following } from './follower.ts';
import type { Turn } from './thread.ts';
import { TurnView } from './TurnView.tsx';

/** The turns that are held, and where those before them are. */
export interface Held {
  turns: Turn[];
  earlier: string | null;
}

interface Props {
  conversation: string;
  held: Held;
  origin: ReactNode; // what stands before the first of all turns
  active: string | null; // the run that is not over yet
  giveBack(text: string, doc?: unknown): void;
}

/** The turns of a conversation. What arrives of one is drawn by that one alone. */
export const Turns = memo(function Turns({ conversation, held, origin, active, giveBack }: Props) {
  useStore(following); // a run read for the first time brings its follower
  const edited = useStore(editing)[conversation];
  const { turns, earlier } = useUnhurried(held);
  return (
    <>
      {earlier ? <Earlier conversation={conversation} cursor={earlier} /> : turns.length > 0 && origin}
      {turns.map((turn) => (
        <TurnView
          key={turn.key}
          turn={turn}
          follower={turn.runID ? followerOf(turn.runID) : undefined}
          active={turn.runID !== null && turn.runID === active}
          edited={turn.user !== null && turn.user.id === edited}
          giveBack={giveBack}
        />
      ))}
    </>
  );
});

/** Turns put before the others may be drawn between two frames; what comes at the end is drawn at once. */
function useUnhurried(held: Held): Held {
  const later = useDeferredValue(held);
  return later.turns.length > 0 && later.turns.at(-1) === held.turns.at(-1) ? later : held;
}

const ahead = '1600px 0px 0px'; // how long before the reader gets there

/** What comes before the turns that are there: fetched when the reader comes near. */
function Earlier({ conversation, cursor }: { conversation: string; cursor: string }) {
  const words = useWords();
  const place = useRef<HTMLDivElement>(null);
  const [problem, setProblem] = useState('');
  const [again, setAgain] = useState(0);

  useEffect(() => {
    let gone = false;
    setProblem('');
    const watcher = new IntersectionObserver(
      (entries) => {
        if (!entries.some((entry) => entry.isIntersecting)) return;
        watcher.disconnect();
        loadEarlier(conversation).catch((error: unknown) => {
          if (!gone) setProblem(sentence(error));
        });
      },
      { root: place.current!.closest('.view'), rootMargin: ahead },
    );
    watcher.observe(place.current!);
    return () => {
      gone = true;
      watcher.disconnect();
    };
  }, [conversation, cursor, again]);

  return (
    <div ref={place} className="earlier">
      {problem ? (
        <p role="alert">
          {words.earlierFailed} {problem}{' '}
          <button type="button" className="link" onClick={() => setAgain(again + 1)}>
            {words.tryAgain}
          </button>
        </p>
      ) : (
        <p role="status">{words.loadingEarlier}</p>
      )}
    </div>
  );
}
