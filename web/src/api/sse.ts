// Reading a run's event log over HTTP: a parser that survives any split of the
// bytes, and a follower that comes back by itself where it left off.

import { authorized, sleep } from './call.ts';
import { Failure } from './failure.ts';
import type { RunEvent } from './types.ts';

export interface Frame {
  id: string;
  event: string;
  data: string;
}

/** Returns a function that takes text as it arrives and gives whole frames. */
export function createParser(): (text: string) => Frame[] {
  let rest = '';
  let event = '';
  let id = '';
  let data: string[] = [];

  function line(text: string, frames: Frame[]): void {
    if (text === '') {
      if (data.length > 0) frames.push({ id, event: event || 'message', data: data.join('\n') });
      event = '';
      data = [];
      return;
    }
    const colon = text.indexOf(':');
    const field = colon < 0 ? text : text.slice(0, colon);
    const value = colon < 0 ? '' : text.slice(colon + (text[colon + 1] === ' ' ? 2 : 1));
    if (field === 'event') event = value;
    else if (field === 'data') data.push(value);
    else if (field === 'id') id = value;
  }

  return (text) => {
    const frames: Frame[] = [];
    rest += text;
    for (;;) {
      const end = rest.search(/[\r\n]/);
      // A CR at the very end may be half of a CRLF: wait for what follows.
      if (end < 0 || (rest[end] === '\r' && end === rest.length - 1)) return frames;
      const width = rest.startsWith('\r\n', end) ? 2 : 1;
      const found = rest.slice(0, end);
      rest = rest.slice(end + width);
      line(found, frames);
    }
  };
}

/** Makes an event of a frame; null for what is malformed or not for us (UI-26). */
export function eventOf(frame: Frame): RunEvent | null {
  if (frame.event === 'ping') return null;
  try {
    const body = JSON.parse(frame.data) as { event?: string; data?: unknown; node?: string; attempt?: number };
    const seq = Number(frame.id);
    return {
      seq: Number.isFinite(seq) ? seq : 0,
      kind: body.event ?? frame.event,
      data: body.data,
      ...(body.node ? { node: body.node } : {}),
      ...(body.attempt ? { attempt: body.attempt } : {}),
    };
  } catch {
    return null;
  }
}

const terminal = new Set(['message_done', 'error', 'cancel_ack', 'paused']);
const idleLimit = 30_000; // ms without a single byte; heartbeats come every 15 s
const firstPause = 250; // ms
const longestPause = 8_000; // ms

export interface FollowOptions {
  after: number;
  signal: AbortSignal;
  onEvent(event: RunEvent): void;
  /** The reader has lost the log (n-th time in a row) or, with 0, has it again. */
  onTrouble(failures: number): void;
}

/** Follows a run until an event that ends the stream. Never asks the server to do anything twice. */
export async function follow(runID: string, options: FollowOptions): Promise<void> {
  let after = options.after;
  let failures = 0;
  while (!options.signal.aborted) {
    try {
      const ended = await readOnce(runID, after, options, (event) => {
        if (event.seq > after) after = event.seq;
        if (failures > 0) options.onTrouble((failures = 0));
        options.onEvent(event);
      });
      if (ended) return;
    } catch (error) {
      if (options.signal.aborted) return;
      if (error instanceof Failure && error.status >= 400 && error.status < 500 && error.status !== 429) throw error;
    }
    failures++;
    options.onTrouble(failures);
    await pause(failures, options.signal);
  }
}

async function readOnce(
  runID: string,
  after: number,
  options: FollowOptions,
  onEvent: (event: RunEvent) => void,
): Promise<boolean> {
  const idle = new AbortController();
  const signal = AbortSignal.any([options.signal, idle.signal]);
  let timer = setTimeout(() => idle.abort(), idleLimit);
  try {
    const response = await authorized(`/v1/runs/${runID}/events`, {
      headers: { Accept: 'text/event-stream', ...(after > 0 ? { 'Last-Event-ID': String(after) } : {}) },
      signal,
    });
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    const parse = createParser();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return false;
      clearTimeout(timer);
      timer = setTimeout(() => idle.abort(), idleLimit);
      for (const frame of parse(value)) {
        const event = eventOf(frame);
        if (!event) continue;
        onEvent(event);
        if (terminal.has(event.kind)) {
          reader.cancel().catch(() => undefined);
          return true;
        }
      }
    }
  } finally {
    clearTimeout(timer);
  }
}

/** Waits longer each time, at random so that readers do not return together; coming online ends the wait. */
async function pause(failures: number, signal: AbortSignal): Promise<void> {
  const ceiling = Math.min(longestPause, firstPause * 2 ** (failures - 1));
  const online = new AbortController();
  const wake = () => online.abort();
  window.addEventListener('online', wake, { once: true });
  await sleep(ceiling / 2 + Math.random() * (ceiling / 2), AbortSignal.any([signal, online.signal])).catch(() => undefined);
  window.removeEventListener('online', wake);
}
