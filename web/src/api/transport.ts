// What every way of reading a run's events keeps to. There are two: the socket
// that all runs of this page share, and a stream over HTTP for each. Both carry
// the same log (STREAM-28), so a reader may change the way wherever it stands.

import type { RunEvent } from './types.ts';

/** How a reading ended without an end of the run: the connection broke, was silent for too long, or was closed in order. */
export type Interruption = 'lost' | 'silent' | 'cut';

/** How one reading ended. renew: the connection is to be opened again at once, nothing is wrong with it. */
export type ReadResult = 'end' | Interruption | 'renew';

export interface Reading {
  after: number; // the sequence number of the last event that is known; 0: none
  signal: AbortSignal;
  onEvent(event: RunEvent): void;
  /** The way is open, and something came over it: asked for by who had lost it. */
  onHeard?(): void;
}

/** Reads a run once. Throws a Failure when the server refuses; the caller comes back after everything else. */
export type Transport = (runID: string, reading: Reading) => Promise<ReadResult>;

const terminal: ReadonlySet<string> = new Set(['message_done', 'error', 'cancel_ack', 'paused']);

/** Whether nothing comes after an event of this kind until somebody acts (STREAM-15). */
export function endsReading(kind: string): boolean {
  return terminal.has(kind);
}

/** Bytes of any kind end a silence, and the server beats every 25 s at the latest (UI-25, C-45). */
export const silenceLimit = 30_000; // ms
