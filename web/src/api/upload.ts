import { sleep } from './call.ts';
import { Failure, failureFrom, secondsOf } from './failure.ts';
import { identification, notTheirs, refresh, watchPerson } from './session.ts';
import type { Limits, Uploaded } from './types.ts';

/** Why a file cannot be taken, before a byte is sent; null when it can. */
export function refusal(file: { name: string; size: number }, limits: Limits): 'too_large' | 'wrong_kind' | 'empty' | null {
  if (file.size === 0) return 'empty';
  if (file.size > limits.max_bytes) return 'too_large';
  const dot = file.name.lastIndexOf('.');
  const extension = dot < 0 ? '' : file.name.slice(dot).toLowerCase();
  const known = limits.extensions.map((name) => (name.startsWith('.') ? name : `.${name}`).toLowerCase());
  return known.length > 0 && !known.includes(extension) ? 'wrong_kind' : null;
}

/** Where a file goes, and how it is cut. */
export interface Destination {
  contextID: string;
  /** Tokens in a passage, 64 to 4000 (FILE-10); missing: the server's own. */
  chunkSize?: number | undefined;
  /** Where it lies with its person, where that is in a folder: what comes from there again replaces it. */
  origin?: string | undefined;
  /** What the file is called there, where that is not its own name. */
  name?: string | undefined;
}

/** Sends one file. XHR, because fetch cannot say how much has been sent. */
export async function upload(
  file: File,
  to: Destination,
  signal: AbortSignal,
  onProgress: (fraction: number) => void,
): Promise<Uploaded> {
  const key = crypto.randomUUID();
  const another = watchPerson();
  try {
    return await send(file, to, key, signal, onProgress);
  } catch (error) {
    if (!(error instanceof Failure) || error.status !== 401 || !(await refresh())) throw error;
    if (another()) throw notTheirs();
    return send(file, to, key, signal, onProgress);
  }
}

function send(
  file: File,
  to: Destination,
  key: string,
  signal: AbortSignal,
  onProgress: (fraction: number) => void,
): Promise<Uploaded> {
  signal.throwIfAborted(); // an abort that has been is told to nobody who comes later
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', '/v1/files/upload');
    request.setRequestHeader('Accept', 'application/json');
    request.setRequestHeader('Idempotency-Key', key);
    for (const [name, value] of Object.entries(identification())) request.setRequestHeader(name, value);
    request.upload.addEventListener('progress', (event) => {
      if (event.lengthComputable) onProgress(event.loaded / event.total);
    });
    request.addEventListener('load', () => {
      if (request.status < 200 || request.status > 299) reject(failureFrom(request.status, request.responseText, secondsOf(request.getResponseHeader('Retry-After'))));
      else resolve((JSON.parse(request.responseText) as { data: Uploaded }).data);
    });
    request.addEventListener('error', () => reject(new Failure(0, 'unreachable', '')));
    request.addEventListener('abort', () => reject(signal.reason as Error));
    signal.addEventListener('abort', () => request.abort(), { once: true });
    const form = new FormData();
    form.set('context_id', to.contextID);
    if (to.chunkSize) form.set('chunk_size', String(to.chunkSize));
    if (to.origin) form.set('origin', to.origin);
    form.set('file', file, to.name ?? file.name);
    request.send(form);
  });
}

const firstPause = 1_000; // ms, doubled each time
const longestPause = 30_000;
const mostTries = 8; // of what nothing answers: some two minutes
const mostBroken = 3; // of what breaks the server, each time
const away = [0, 502, 503, 504]; // nothing answered, or something before the server did

/**
 * How long to wait before something that failed for the times-th time is tried
 * again, in ms; null when that would change nothing. Who is told to wait waits
 * that long, as often as they are told (API-16).
 */
export function pauseAfter(error: unknown, times: number): number | null {
  if (!(error instanceof Failure)) return null;
  const backoff = Math.min(longestPause, firstPause * 2 ** (times - 1));
  if (error.status === 429) return error.retryAfter * 1_000 || backoff;
  const most = away.includes(error.status) ? mostTries : error.status >= 500 ? mostBroken : 0;
  return times < most ? Math.max(error.retryAfter * 1_000, backoff) : null;
}

/** Does something, and again after a pause, until it succeeds or trying would change nothing. */
export async function patiently<T>(act: () => Promise<T>, signal: AbortSignal, onWait: () => void = () => undefined): Promise<T> {
  for (let times = 1; ; times++) {
    try {
      return await act();
    } catch (error) {
      const pause = signal.aborted ? null : pauseAfter(error, times);
      if (pause === null) throw error;
      onWait();
      await sleep(pause, signal);
    }
  }
}
