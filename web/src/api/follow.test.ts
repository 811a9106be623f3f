import { afterEach, describe, expect, it, vi } from 'vitest';
import { follow } from './sse.ts';
import type { RunEvent } from './types.ts';

function stream(events: [number, string, unknown][]): Response {
  const text = events.map(([seq, kind, data]) => `id: ${seq}\nevent: ${kind}\ndata: ${JSON.stringify({ event: kind, data })}\n\n`).join('');
  return new Response(text, { status: 200, headers: { 'Content-Type': 'text/event-stream' } });
}

function serve(...answers: (Response | Error)[]) {
  const asked: (string | undefined)[] = [];
  vi.stubGlobal('fetch', async (_url: string, init: RequestInit) => {
    asked.push((init.headers as Record<string, string>)['Last-Event-ID']);
    const next = answers.shift()!;
    if (next instanceof Error) throw next;
    return next;
  });
  return asked;
}

async function run(trouble: number[] = []): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  await follow('r', {
    after: 0,
    signal: new AbortController().signal,
    onEvent: (event) => events.push(event),
    onTrouble: (failures) => trouble.push(failures),
  });
  return events;
}

afterEach(() => vi.unstubAllGlobals());

describe('following a run', () => {
  // Requirements: STREAM-24
  it('comes back after the last event it saw, and says that it was away', async () => {
    const trouble: number[] = [];
    const asked = serve(
      stream([
        [1, 'token', 'a'],
        [2, 'token', 'b'],
      ]),
      new TypeError('network'),
      stream([[3, 'message_done', { content: 'abc' }]]),
    );
    const events = await run(trouble);
    expect(asked).toEqual([undefined, '2', '2']);
    expect(events.map((event) => event.seq)).toEqual([1, 2, 3]);
    expect(trouble).toEqual([1, 2, 0]);
  });

  // Requirements: STREAM-15
  it.each(['message_done', 'error', 'cancel_ack', 'paused'])('ends with %s', async (kind) => {
    const asked = serve(stream([[1, kind, {}]]));
    expect(await run()).toHaveLength(1);
    expect(asked).toHaveLength(1);
  });

  it('takes a refusal as final', async () => {
    const body = JSON.stringify({ error: { code: 'not_found', message: 'There is no such run.' } });
    serve(new Response(body, { status: 404 }));
    await expect(run()).rejects.toThrow('There is no such run.');
  });
});
