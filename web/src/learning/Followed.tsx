import { useState } from 'react';
import { Link } from 'wouter';
import type { FollowedLesson } from '../api/gen.ts';
import { changeLesson } from '../api/learning.ts';
import { sentence } from '../i18n/errors.ts';
import { useWords } from '../i18n/index.ts';

const most = 3; // lessons below one answer

/** What of what was learnt an answer followed, each off in one press. */
export default function Followed({ lessons }: { lessons: FollowedLesson[] }) {
  const words = useWords();
  const rest = lessons.length - most;
  return (
    <div className="followed">
      <Link href={`/settings/learning#lesson-${lessons[0]?.id}`} title={words.followedTitle}>
        {words.followed}
      </Link>
      <ul>
        {lessons.slice(0, most).map((one) => (
          <One key={one.id} lesson={one} />
        ))}
        {rest > 0 && (
          <li>
            <Link href="/settings/learning">{words.andMore(rest)}</Link>
          </li>
        )}
      </ul>
    </div>
  );
}

function One({ lesson }: { lesson: FollowedLesson }) {
  const words = useWords();
  const [off, setOff] = useState(false);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState('');

  async function turn() {
    if (busy) return;
    setBusy(true);
    setProblem('');
    try {
      await changeLesson(lesson.id, { state: off ? 'active' : 'off' });
      setOff(!off);
    } catch (error) {
      setProblem(sentence(error));
    } finally {
      setBusy(false);
    }
  }

  return (
    <li data-off={off || undefined}>
      <span className="followed-text">{lesson.text}</span> <span role="status">{off ? words.followedIsOff : ''}</span>
      <button type="button" className="deed-link" aria-disabled={busy} aria-label={off ? undefined : words.followedOffThis(lesson.text)} onClick={() => void turn()}>
        {off ? words.followedOn : words.followedOff}
      </button>
      {problem && (
        <span role="alert" className="problem">
          {problem}
        </span>
      )}
    </li>
  );
}
