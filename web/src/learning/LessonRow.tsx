import { useState } from 'react';
import { useAttempt } from '../account/useAttempt.ts';
import { changeLesson, deleteLesson, type Learning, type LearnedAdapter, type Lesson } from '../api/learning.ts';
import { Retitle, useRenaming } from '../contexts/parts.tsx';
import { ActDialog } from '../operate/parts.tsx';
import { Events } from './Events.tsx';
import { countOf, standingOf } from './standing.ts';
import { useLearningWords } from './words.ts';

const longest = 160; // characters; the server's bound

interface Props {
  lesson: Lesson;
  adapter: LearnedAdapter | null;
  learning: Learning;
  say(text: string): void;
}

/** One lesson: on or off, its words, what it came from, and the way to be rid of it. */
export function LessonRow({ lesson, adapter, learning, say }: Props) {
  const words = useLearningWords();
  const attempt = useAttempt();
  const { renaming, button, begin, end } = useRenaming();
  const [asking, setAsking] = useState(false);
  const [wanted, setWanted] = useState<boolean | null>(null); // until the server has it
  const standing = standingOf(lesson, adapter, learning);
  const about = `standing-${lesson.id}`;
  return (
    <li id={`lesson-${lesson.id}`} className="lesson" data-standing={standing}>
      {renaming ? (
        <Retitle
          value={lesson.text}
          label={words.rewordLabel}
          most={longest}
          onSave={async (text) => {
            await changeLesson(lesson.id, { text });
            say(words.reworded);
          }}
          onClose={end}
        />
      ) : (
        <label className="switch">
          <input
            type="checkbox"
            checked={wanted ?? lesson.state === 'active'}
            disabled={attempt.busy}
            aria-describedby={about}
            onChange={(event) => {
              const on = event.target.checked;
              setWanted(on);
              void attempt.go(() => changeLesson(lesson.id, { state: on ? 'active' : 'off' })).finally(() => setWanted(null));
            }}
          />
          <span className="lesson-text">{lesson.text}</span>
        </label>
      )}
      <p id={about} className="lesson-facts">
        <span className="standing">
          <span className={standing === 'waits' ? 'dot wait' : 'dot'} aria-hidden="true" />
          {words.standing(standing)}
        </span>
        <span>{words.madeBy(lesson.made_by)}</span>
      </p>
      {attempt.problem && (
        <p role="alert" className="problem">
          {attempt.problem}
        </p>
      )}
      <div className="lesson-below">
        {lesson.sources.length > 0 && (
          <details className="opens">
            <summary>{words.sources(countOf(lesson.sources))}</summary>
            <Events events={lesson.sources} label={words.sources(countOf(lesson.sources))} />
          </details>
        )}
        {!renaming && (
          <div className="lesson-acts">
            <button ref={button} type="button" className="quiet" aria-label={words.rewordThis(lesson.text)} onClick={begin}>
              {words.reword}
            </button>
            <button type="button" className="quiet bad" aria-label={words.forgetThis(lesson.text)} onClick={() => setAsking(true)}>
              {words.forget}
            </button>
          </div>
        )}
      </div>
      {asking && (
        <ActDialog
          title={words.forget}
          act={words.forget}
          danger
          onClose={() => setAsking(false)}
          onAct={async () => {
            await deleteLesson(lesson.id);
            setAsking(false);
            say(words.forgotten);
          }}
        >
          <p>{words.forgetAsk(lesson.text)}</p>
        </ActDialog>
      )}
    </li>
  );
}
