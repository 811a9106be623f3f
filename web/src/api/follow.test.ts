import { afterEach, describe, expect, it, vi } from 'vitest';
import { endsReading, type Transport, type ReadResult } from './transport.ts';
import { Failure } from './failure.ts';
import { follow, type Trouble } from './follow.ts';
import { readByStream } from './sse.ts';
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

async function run(trouble: (Trouble | null)[] = [], transport: Transport = readByStream): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  await follow(
    'r',
    { after: 0, signal: new AbortController().signal, onEvent: (event) => events.push(event), onTrouble: (one) => trouble.push(one) },
    transport,
  );
  return events;
}

/** A transport that brings these events and then ends like this, one after another. */
function carries(...readings: { events?: number[]; reached: ReadResult | Failure }[]) {
  const after: number[] = [];
  const transport: Transport = async (_run, reading) => {
    after.push(reading.after);
    const { events = [], reached } = readings.shift()!;
    for (const seq of events) reading.onEvent({ seq, kind: 'token', data: '' });
    if (reached instanceof Failure) throw reached;
    return reached;
  };
  return { after, transport };
}

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

describe('following a run', () => {
  // Requirements: STREAM-24 (missed events are replayed), UI-26
  it('comes back after the last event it saw, and says why it was away', async () => {
    const trouble: (Trouble | null)[] = [];
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
    expect(trouble).toEqual([{ cause: 'cut', times: 1 }, { cause: 'lost', times: 2 }, null]);
  });

  // Requirements: STREAM-15
  it.each(['message_done', 'error', 'cancel_ack', 'paused'])('ends with %s', async (kind) => {
    expect(endsReading(kind)).toBe(true);
    const asked = serve(stream([[1, kind, {}]]));
    expect(await run()).toHaveLength(1);
    expect(asked).toHaveLength(1);
  });

  it('takes a refusal as final', async () => {
    const body = JSON.stringify({ error: { code: 'not_found', message: 'There is no such run.' } });
    serve(new Response(body, { status: 404 }));
    await expect(run()).rejects.toThrow('There is no such run.');
  });

  it('opens a line again without a word when nothing is wrong with it, but not for ever', async () => {
    const trouble: (Trouble | null)[] = [];
    const { after, transport } = carries({ events: [1], reached: 'renew' }, { reached: 'renew' }, { events: [2], reached: 'end' });
    await run(trouble, transport);
    expect(after).toEqual([0, 1, 1]);
    expect(trouble).toEqual([{ cause: 'lost', times: 1 }, null]);
  });

  it('has the log again as soon as the line is heard, though the run says nothing', async () => {
    vi.useFakeTimers();
    const trouble: (Trouble | null)[] = [];
    const ways: Transport[] = [
      async () => 'lost',
      async (_, { onHeard }) => (onHeard!(), 'cut'), // cut at once: the pauses go on growing
      async (_, { onHeard }) => {
        onHeard!();
        await new Promise((resolve) => setTimeout(resolve, 60_000));
        return 'lost';
      },
      async () => 'end',
    ];
    const over = run(trouble, (id, reading) => ways.shift()!(id, reading));
    await vi.runAllTimersAsync();
    await over;
    expect(trouble).toEqual([{ cause: 'lost', times: 1 }, null, { cause: 'cut', times: 2 }, null, { cause: 'lost', times: 1 }]);
  });

  it('says that the device is offline, where it is', async () => {
    vi.stubGlobal('navigator', { onLine: false });
    const trouble: (Trouble | null)[] = [];
    await run(trouble, carries({ reached: 'lost' }, { reached: 'end' }).transport);
    expect(trouble).toEqual([{ cause: 'offline', times: 1 }]);
  });

  // Requirements: UI-25
  it('gives a silent stream up after thirty seconds, and any byte sets the clock back', async () => {
    vi.useFakeTimers();
    let say!: (text: string) => void;
    vi.stubGlobal('fetch', async (_url: string, init: RequestInit) => {
      const encoder = new TextEncoder();
      const body = new ReadableStream<Uint8Array>({
        start(control) {
          say = (text) => control.enqueue(encoder.encode(text));
          init.signal!.addEventListener('abort', () => control.error(new DOMException('', 'AbortError')));
        },
      });
      return new Response(body, { status: 200 });
    });
    let reached: unknown;
    void readByStream('r', { after: 0, signal: new AbortController().signal, onEvent: () => undefined }).then((how) => (reached = how));
    await vi.advanceTimersByTimeAsync(29_000);
    say(': beat\n\n');
    await vi.advanceTimersByTimeAsync(29_000);
    expect(reached).toBeUndefined();
    await vi.advanceTimersByTimeAsync(2_000);
    expect(reached).toBe('silent');
  });
});
