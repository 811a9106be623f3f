// Reading a run's event log over HTTP: a parser that survives any split of the
// bytes, and what is malformed or not ours left out.

import { authorized } from './call.ts';
import { eventOf, type Framed } from './event.ts';
import { endsReading, silenceLimit, type Transport } from './transport.ts';
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
export function readFrame(frame: Frame): RunEvent | null {
  if (frame.event === 'ping') return null;
  try {
    const body = JSON.parse(frame.data) as Partial<Framed>;
    const seq = Number(frame.id);
    return eventOf({ ...body, event: body.event ?? frame.event }, Number.isFinite(seq) ? seq : 0);
  } catch {
    return null;
  }
}

/** Reads a run's events over HTTP, from where the reader is. */
export const readByStream: Transport = async (runID, { after, signal, onEvent, onHeard }) => {
  const silence = new Silence();
  try {
    const response = await authorized(`/v1/runs/${runID}/events`, {
      headers: { Accept: 'text/event-stream', ...(after > 0 ? { 'Last-Event-ID': String(after) } : {}) },
      signal: AbortSignal.any([signal, silence.signal]),
    });
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    const parse = createParser();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return 'cut';
      silence.broken();
      onHeard?.();
      for (const frame of parse(value)) {
        const event = readFrame(frame);
        if (!event) continue;
        onEvent(event);
        if (endsReading(event.kind)) {
          reader.cancel().catch(() => undefined);
          return 'end';
        }
      }
    }
  } catch (error) {
    if (silence.signal.aborted) return 'silent';
    throw error;
  } finally {
    silence.over();
  }
};

/** A clock that every byte sets back; its signal aborts when it runs out. */
class Silence {
  private readonly control = new AbortController();
  private timer = 0;
  readonly signal = this.control.signal;

  constructor() {
    this.broken();
  }

  broken(): void {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.control.abort(), silenceLimit);
  }

  over(): void {
    clearTimeout(this.timer);
  }
}
