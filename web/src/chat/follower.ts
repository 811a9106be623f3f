// The runs this page is reading. A run outlives its reader: leaving a
// conversation does not stop it, coming back or reloading reads it again.

import { follow, type Trouble } from '../api/follow.ts';
import { Failure } from '../api/failure.ts';
import { createStore, type Store } from '../lib/store.ts';
import { createPulse } from './pulse.ts';
import { emptyRun, fold, type RunState } from './run.ts';
import type { RunEvent } from '../api/types.ts';

export interface Follower {
  state: Store<RunState>;
  /** Why the run cannot be read just now; null while it can. */
  trouble: Store<Trouble | null>;
}

interface Entry extends Follower {
  reading: AbortController | null;
  conversation: string;
}

const entries = new Map<string, Entry>();

/** Changes when a run is read for the first time. */
export const following = createStore(0);

/** Called when a run stops moving: it ended, or only a person can move it. */
let settled: (conversation: string, runID: string) => void = () => undefined;
export function onSettled(callback: typeof settled): void {
  settled = callback;
}

export function followerOf(runID: string): Follower | undefined {
  return entries.get(runID);
}

export function isReading(runID: string): boolean {
  return entries.get(runID)?.reading != null;
}

/** Reads a run from where this page left off, or from its beginning. */
export function followRun(runID: string, conversation: string): Follower {
  const entry = entries.get(runID) ?? create(runID, conversation);
  if (!entry.reading) start(runID, entry);
  return entry;
}

function create(runID: string, conversation: string): Entry {
  const entry: Entry = {
    state: createStore<RunState>({ ...emptyRun }),
    trouble: createStore<Trouble | null>(null),
    reading: null,
    conversation,
  };
  prune();
  entries.set(runID, entry);
  following.set(following.get() + 1);
  return entry;
}

const mostOver = 50; // runs that are kept as they were read; the store has them all

/** Lets go of the oldest runs that are over. */
function prune(): void {
  const over = [...entries].filter(([, { reading, state }]) => !reading && state.get().phase !== 'waiting');
  for (const [runID] of over.slice(0, Math.max(0, over.length - mostOver))) entries.delete(runID);
}

function start(runID: string, entry: Entry): void {
  const reading = new AbortController();
  entry.reading = reading;
  const painter = createPainter(entry.state);
  follow(runID, {
    after: entry.state.get().seq,
    signal: reading.signal,
    onEvent: painter.add,
    onTrouble: (trouble) => entry.trouble.set(trouble),
  })
    .catch((error: unknown) => {
      const message = error instanceof Failure ? error.message : String(error);
      painter.fail(message);
    })
    .finally(() => {
      painter.flush();
      entry.reading = null;
      entry.trouble.set(null);
      if (!reading.signal.aborted) settled(entry.conversation, runID);
    });
}

/** Folds events at once and shows them as often as the page can afford. */
function createPainter(state: Store<RunState>) {
  let ahead = state.get();
  const pulse = createPulse(() => state.set(ahead));
  return {
    add(event: RunEvent) {
      ahead = fold(ahead, event);
      pulse.beat();
    },
    fail(message: string) {
      ahead = { ...ahead, phase: 'failed', error: { code: '', message } };
    },
    flush: pulse.now,
  };
}

/** Forgets everything, as when another person signs in. */
export function forgetRuns(): void {
  for (const entry of entries.values()) entry.reading?.abort();
  entries.clear();
}
