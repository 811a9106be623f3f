// From a frame, whichever way it came, to the event it is. The server's document
// says what the data of each kind is (gen.ts), and its tests hold it to that;
// here it is believed, once for all readers.

import type { RunEvent } from './types.ts';

/** What of a frame its event is made of. */
export interface Framed {
  event: string;
  data?: unknown;
  node?: string;
  attempt?: number;
}

/** Makes an event of a frame. One of a kind that this client does not know is passed on, and nobody heeds it. */
export function eventOf({ event, data, node, attempt }: Framed, seq: number): RunEvent {
  return { seq, kind: event, data, ...(node ? { node } : {}), ...(attempt ? { attempt } : {}) } as RunEvent;
}
