import { events, useWebhookWords, type EventName } from './words.ts';

/** The events somebody can be told of, to be ticked in a form. */
export function Events({ name, picked = [] }: { name: string; picked?: readonly string[] }) {
  const words = useWebhookWords();
  return events.map((event) => (
    <label key={event} className="tick">
      <input type="checkbox" name={`${name}-${event}`} defaultChecked={picked.includes(event)} />
      <span>{words.event[event]}</span>
    </label>
  ));
}

/** Those that were ticked. */
export const pickedOf = (form: FormData, name: string): EventName[] => events.filter((event) => form.get(`${name}-${event}`));
