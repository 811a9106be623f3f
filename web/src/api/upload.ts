import { Failure, failureFrom } from './failure.ts';
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
      if (request.status < 200 || request.status > 299) reject(failureFrom(request.status, request.responseText));
      else resolve((JSON.parse(request.responseText) as { data: Uploaded }).data);
    });
    request.addEventListener('error', () => reject(new Failure(0, 'unreachable', '')));
    request.addEventListener('abort', () => reject(signal.reason as Error));
    signal.addEventListener('abort', () => request.abort(), { once: true });
    const form = new FormData();
    form.set('context_id', to.contextID);
    if (to.chunkSize) form.set('chunk_size', String(to.chunkSize));
    form.set('file', file);
    request.send(form);
  });
}
