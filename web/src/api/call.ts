// One way to the server: the envelope is taken off here, a 401 tries one
// refresh, a 5xx is tried again (UI-17…19), and every failure is a Failure.

import { clearSession, identification, notTheirs, refresh, watchPerson } from './session.ts';
import { Failure, failureOf } from './failure.ts';

export interface Sending {
  body?: unknown;
  signal?: AbortSignal | undefined;
  /** Names a write so that trying it again cannot do it twice (API-05). */
  key?: string | undefined;
  /** A failure is an answer: it is not tried again. */
  once?: boolean | undefined;
}

const tries = 4; // the first and three more
const firstPause = 400; // ms, doubled each time

/** Asks, and takes the envelope off. */
export async function dataOf<T>(method: string, url: string, options: Sending): Promise<T> {
  const response = await authorized(url, init(method, options), options.once ? 1 : tries);
  if (response.status === 204) return undefined as T;
  const body = (await response.json()) as { data: T };
  return body.data;
}

function init(method: string, options: Sending): RequestInit {
  const headers: Record<string, string> = { Accept: 'application/json' };
  if (options.body !== undefined) headers['Content-Type'] = 'application/json';
  if (method !== 'GET') headers['Idempotency-Key'] = options.key ?? crypto.randomUUID();
  return {
    method,
    headers,
    ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
    ...(options.signal ? { signal: options.signal } : {}),
  };
}

/** fetch with the token, one refresh on 401, and patience with 5xx; all of it as one person. */
export async function authorized(url: string, request: RequestInit, most = tries): Promise<Response> {
  const another = watchPerson();
  let response = await patient(url, request, another, most);
  if (response.status === 401) {
    if (!(await refresh())) throw await failureOf(response);
    response = await patient(url, request, another, most); // the cookie may be of another person by now
    if (response.status === 401) clearSession();
  }
  if (!response.ok) throw await failureOf(response);
  return response;
}

async function patient(url: string, request: RequestInit, another: () => boolean, most: number): Promise<Response> {
  for (let attempt = 1; ; attempt++) {
    if (another()) throw notTheirs();
    const response = await once(url, request);
    if (response.status < 500 || attempt === most) return response;
    await sleep(firstPause * 2 ** (attempt - 1), request.signal ?? undefined);
  }
}

async function once(url: string, request: RequestInit): Promise<Response> {
  try {
    return await fetch(url, { ...request, headers: { ...(request.headers as Record<string, string>), ...identification() } });
  } catch (error) {
    if (request.signal?.aborted) throw error;
    throw new Failure(0, 'unreachable', '');
  }
}

/** Waits, or rejects at once when the signal aborts. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason as Error);
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        reject(signal.reason as Error);
      },
      { once: true },
    );
  });
}
