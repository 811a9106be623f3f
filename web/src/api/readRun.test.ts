import { afterEach, expect, it, vi } from 'vitest';
import { NotOpened } from './connection.ts';
import { Failure } from './failure.ts';
import { readRun } from './readRun.ts';
import { readingFixture } from './socketFixture.ts';

const ways = vi.hoisted(() => ({ canRead: vi.fn(), read: vi.fn(), stream: vi.fn() }));
vi.mock('./pageSocket.ts', () => ({ pageSocket: { canRead: ways.canRead, read: ways.read } }));
vi.mock('./sse.ts', () => ({ readByStream: ways.stream }));

afterEach(() => vi.resetAllMocks());

// Requirements: UI-04, STREAM-28 (/v1 over SSE and sockets)
it.each([
  ['the socket is not to be tried', () => ways.canRead.mockReturnValue(false)],
  ['it cannot be opened', () => (ways.canRead.mockReturnValue(true), ways.read.mockRejectedValue(new NotOpened()))],
])('a run is read over HTTP from where its reader is, where %s', async (_, given) => {
  given();
  ways.stream.mockResolvedValue('end');
  const { reading } = readingFixture({ after: 7 });
  expect(await readRun('r1', reading)).toBe('end');
  expect(ways.stream.mock.calls).toEqual([['r1', reading]]);
});

it('is not read another way when the server refuses', async () => {
  ways.canRead.mockReturnValue(true);
  ways.read.mockRejectedValue(new Failure(404, 'not_found', 'There is no such run.'));
  await expect(readRun('r1', readingFixture().reading)).rejects.toThrow('There is no such run.');
  expect(ways.stream).not.toHaveBeenCalled();
});
