// One voice at a time. Sounds are decoded and played by the Web Audio API: the
// content policy lets no element of the page load media.

import { createStore } from '../lib/store.ts';
import { speak } from './server.ts';

export interface Playing {
  of: string; // what is read, by who asked for it
  heard: boolean; // sound has begun
}

/** What is read aloud now; null: nothing. */
export const playing = createStore<Playing | null>(null);

let current: AbortController | null = null;

/** Ends what is read aloud. */
export function hush(of?: string): void {
  if (of !== undefined && playing.get()?.of !== of) return;
  current?.abort();
  current = null;
  playing.set(null);
}

/** Whether this browser can play anything. */
export function audible(): boolean {
  return typeof AudioContext !== 'undefined';
}

/** Reads pieces aloud one after the other, instead of whatever is read. Throws what the server refused. */
export async function readAloud(of: string, pieces: string[]): Promise<void> {
  hush();
  const own = (current = new AbortController());
  const { signal } = own;
  playing.set({ of, heard: false });
  const context = new AudioContext();
  try {
    let next = pieces.length > 0 ? fetched(pieces[0]!, signal) : undefined;
    for (let i = 0; next; i++) {
      const sound = await context.decodeAudioData(await next);
      if (signal.aborted) return;
      next = i + 1 < pieces.length ? fetched(pieces[i + 1]!, signal) : undefined;
      if (current === own) playing.set({ of, heard: true });
      await play(context, sound, signal);
      if (signal.aborted) return;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    void context.close();
    if (current === own) {
      own.abort(); // the next piece may be under way
      hush();
    }
  }
}

/** A piece that nobody waits for yet must not be an error that nobody caught. */
function fetched(piece: string, signal: AbortSignal): Promise<ArrayBuffer> {
  const sound = speak(piece, signal);
  sound.catch(() => undefined);
  return sound;
}

function play(context: AudioContext, sound: AudioBuffer, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const source = context.createBufferSource();
    source.buffer = sound;
    source.connect(context.destination);
    source.addEventListener('ended', () => resolve());
    signal.addEventListener('abort', () => {
      source.stop();
      resolve();
    });
    source.start();
  });
}
