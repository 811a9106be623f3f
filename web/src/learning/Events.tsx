import { useState } from 'react';
import { Link } from 'wouter';
import { sentence } from '../i18n/errors.ts';
import { excludeEvent, type LearningEvent } from '../api/learning.ts';
import { isUp } from '../feedback/state.ts';
import { Ago } from '../operate/parts.tsx';
import { Icon } from '../shell/Icon.tsx';
import { useLearningWords } from './words.ts';

interface Props {
  events: LearningEvent[];
  label: string;
  /** Where some can be picked: which are. */
  picked?: ReadonlySet<number>;
  onPick?(id: number, on: boolean): void;
}

/** What a person once said of answers, each with the way to its conversation and the way out of what is learnt. */
export function Events({ events, label, picked, onPick }: Props) {
  const words = useLearningWords();
  return (
    <ul className="events" aria-label={label}>
      {events.map((one) => {
        const what = one.notes || one.question || words.signal(one.signal);
        return (
          <li key={one.event_id} data-excluded={one.excluded || undefined}>
            {picked && onPick && (
              <input type="checkbox" aria-label={words.pick(what)} checked={picked.has(one.event_id)} onChange={(event) => onPick(one.event_id, event.target.checked)} />
            )}
            <Event event={one} what={what} />
          </li>
        );
      })}
    </ul>
  );
}

function Event({ event, what }: { event: LearningEvent; what: string }) {
  const words = useLearningWords();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState('');

  async function exclude() {
    if (busy) return;
    setBusy(true);
    setProblem('');
    try {
      await excludeEvent(event.event_id, !event.excluded);
    } catch (error) {
      setProblem(sentence(error));
    } finally {
      setBusy(false);
    }
  }

  return (
    <div>
      <p className="event-said">
        <span className="event-thumb" title={words.signal(event.signal)}>
          <Icon name={isUp(event.signal) ? 'thumbUp' : 'thumbDown'} />
          <span className="hidden">{words.signal(event.signal)}</span>
        </span>
        {event.notes ? <q>{event.notes}</q> : <span className="hint">{event.corrected ? words.corrected : words.noNote}</span>}
      </p>
      {event.question && <p className="event-asked">{event.question}</p>}
      <p className="facts-line">
        <Ago time={event.at} />
        {event.conversation_id && <Link href={`/c/${event.conversation_id}`}>{words.openConversation}</Link>}
        <button
          type="button"
          className="deed-link"
          aria-disabled={busy}
          aria-label={event.excluded ? words.includeThis(what) : words.excludeThis(what)}
          onClick={() => void exclude()}
        >
          {event.excluded ? words.include : words.exclude}
        </button>
        {event.excluded && <span>{words.excluded}</span>}
      </p>
      {problem && (
        <p role="alert" className="problem">
          {problem}
        </p>
      )}
    </div>
  );
}
