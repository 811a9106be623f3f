// Following a run to its end, however often the connection breaks: each reading goes
// on after the last event that is known, so nothing is lost and nothing comes
// twice. Following never asks the server to do anything, let alone again.

import { sleep } from './call.ts';
import { Failure } from './failure.ts';
import { readRun } from './readRun.ts';
import type { Interruption, Reading, ReadResult, Transport } from './transport.ts';
import type { RunEvent } from './types.ts';

/** Why a run cannot be read just now, and how many times in a row it was tried. */
export interface Trouble {
  cause: Interruption | 'offline';
  times: number;
}

export interface FollowOptions {
  after: number;
  signal: AbortSignal;
  onEvent(event: RunEvent): void;
  /** The reader has lost the log, or with null has it again. */
  onTrouble(trouble: Trouble | null): void;
}

const firstPause = 250; // ms
const longestPause = 8_000; // ms

/** Follows a run until an event that ends the stream. A refusal is thrown: trying again would change nothing. */
export async function follow(runID: string, options: FollowOptions, transport: Transport = readRun): Promise<void> {
  let after = options.after;
  let times = 0;
  let away = false; // the reader was told so
  let heardAt = 0; // when the connection was back; 0: it is not
  let renewed = false; // so that a connection that closes at once is not opened without a pause for ever
  function back() {
    if (away) options.onTrouble(null);
    away = false;
  }
  const reading = {
    signal: options.signal,
    onEvent(event: RunEvent) {
      after = Math.max(after, event.seq);
      renewed = false;
      times = 0;
      back();
      options.onEvent(event);
    },
  };
  function onHeard() {
    heardAt ||= Date.now();
    back();
  }
  while (!options.signal.aborted) {
    heardAt = 0;
    const reached = await attempt(transport, runID, { ...reading, after, ...(away ? { onHeard } : {}) });
    // A connection that is cut as soon as it is open is not tried at once, time and again.
    if (heardAt > 0 && Date.now() - heardAt >= longestPause) times = 0;
    if (options.signal.aborted || reached === 'end') return;
    if (reached === 'renew' && !renewed) {
      renewed = true;
      continue;
    }
    times++;
    away = true;
    options.onTrouble({ cause: causeOf(reached), times });
    await pause(times, options.signal);
  }
}

async function attempt(transport: Transport, runID: string, reading: Reading): Promise<ReadResult> {
  try {
    return await transport(runID, reading);
  } catch (error) {
    if (reading.signal.aborted) return 'lost';
    if (error instanceof Failure && error.status >= 400 && error.status < 500 && error.status !== 429) throw error;
    return 'lost';
  }
}

function causeOf(reached: Interruption | 'renew'): Trouble['cause'] {
  if (navigator.onLine === false) return 'offline';
  return reached === 'renew' ? 'lost' : reached;
}

/** Waits longer each time, at random so that readers do not return together; coming online ends the wait. */
async function pause(times: number, signal: AbortSignal): Promise<void> {
  const ceiling = Math.min(longestPause, firstPause * 2 ** (times - 1));
  const online = new AbortController();
  const wake = () => online.abort();
  window.addEventListener('online', wake, { once: true });
  await sleep(ceiling / 2 + Math.random() * (ceiling / 2), AbortSignal.any([signal, online.signal])).catch(() => undefined);
  window.removeEventListener('online', wake);
}
