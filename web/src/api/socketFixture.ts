// A WebSocket for tests, whose other end is the test.

import { vi } from 'vitest';
import type { Reading } from './transport.ts';

export type SentFrame = Record<string, unknown>;

export class FakeWebSocket extends EventTarget {
  static readonly OPEN = 1;
  static all: FakeWebSocket[] = [];
  readyState = 0;
  sent: SentFrame[] = [];

  constructor(readonly url: string) {
    super();
    FakeWebSocket.all.push(this);
  }

  send(text: string): void {
    this.sent.push(JSON.parse(text) as SentFrame);
  }

  close(): void {
    this.readyState = 3;
  }

  opens(): this {
    this.readyState = 1;
    this.dispatchEvent(new Event('open'));
    return this;
  }

  tells(frame: SentFrame): void {
    this.hears(JSON.stringify(frame));
  }

  hears(data: string): void {
    this.dispatchEvent(new MessageEvent('message', { data }));
  }

  ends(code: number): void {
    this.readyState = 3;
    this.dispatchEvent(Object.assign(new Event('close'), { code, wasClean: code !== 1006 }));
  }
}

/** Puts the fake in the place of the browser's, with none opened yet. */
export function fakeWebSockets(): void {
  FakeWebSocket.all = [];
  vi.stubGlobal('WebSocket', FakeWebSocket);
}

/** The nth that was opened. */
export const nth = (n: number) => FakeWebSocket.all[n]!;

/** Lets what is due happen, under fake timers. */
export const soon = () => vi.advanceTimersByTimeAsync(0);

/** A reading that notes the numbers of the events it is given; leave ends it. */
export function readingFixture(more: Partial<Reading> = {}) {
  const seen: number[] = [];
  const leave = new AbortController();
  return { seen, leave, reading: { after: 0, signal: leave.signal, onEvent: (event: { seq: number }) => seen.push(event.seq), ...more } };
}
