import { afterEach, expect, it, vi } from 'vitest';
import type { FollowOptions } from '../api/follow.ts';
import type { RunEvent } from '../api/types.ts';
import { followerOf, followRun, forgetRuns } from './follower.ts';

const kinds = vi.hoisted(() => new Map<string, string>());
vi.mock('../api/follow.ts', () => ({
  follow: async (run: string, { onEvent }: FollowOptions) => onEvent({ seq: 1, kind: kinds.get(run) ?? 'message_done', data: {} } as RunEvent),
}));

afterEach(forgetRuns);

it('keeps the latest runs that are over, and all that wait for a person', async () => {
  kinds.set('waits', 'paused');
  for (const run of ['waits', ...Array.from({ length: 60 }, (_, n) => `r${n}`)]) {
    followRun(run, 'c');
    await vi.waitFor(() => expect(followerOf(run)?.state.get().phase).not.toBe('working'), 20_000);
    await Promise.resolve();
  }
  expect(['waits', 'r8', 'r9', 'r59'].map((run) => followerOf(run) !== undefined)).toEqual([true, false, true, true]);
});
