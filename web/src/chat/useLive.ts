import type { Trouble } from '../api/follow.ts';
import { createStore, useStore } from '../lib/store.ts';
import type { Follower } from './follower.ts';
import { emptyRun, type RunState } from './run.ts';

const still: Follower = { state: createStore<RunState>(emptyRun), trouble: createStore<Trouble | null>(null) };

/** The state of a run this page is reading; emptyRun itself when it reads none. */
export function useLive(follower: Follower | undefined): { state: RunState; trouble: Trouble | null } {
  const { state, trouble } = follower ?? still;
  return { state: useStore(state), trouble: useStore(trouble) };
}
