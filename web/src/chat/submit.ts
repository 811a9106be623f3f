// Getting a person's words to the server, once. Every attempt carries the same
// name, over the socket as its client_request_id and over HTTP as the
// Idempotency-Key, which the server takes for the same key: so a repeat is
// answered with what the first one began (API-05, STREAM-02).

import { ask, type Body } from '../api/ask.ts';
import { sleep } from '../api/call.ts';
import { NotOpened } from '../api/connection.ts';
import { Failure } from '../api/failure.ts';
import { pageSocket } from '../api/pageSocket.ts';
import { notTheirs, watchPerson } from '../api/session.ts';
import { OutcomeUnknown } from '../api/socket.ts';
import type { Accepted } from '../api/types.ts';

export type NewTurn = Body<'chat'>;

/** How long the server may be away, or busy with the first attempt, before the words are given back. */
const patience = 12_000; // ms
const firstPause = 400; // ms
const longestPause = 4_000; // ms

/**
 * What may have reached the server though nobody could say so, and its name:
 * said again unchanged, it is the same. Only for a while: the server would
 * answer with the first one for a day, and later they are words meant anew.
 */
const unsure = new Map<string, { key: string; until: number }>();
const mostUnsure = 20;
const unsureFor = 3 * 60_000; // ms

/** Submits a message, and returns what it was accepted as, and under which name. Throws a Failure when the server refuses or stays away. */
export async function submit(words: NewTurn): Promise<{ accepted: Accepted; request: string }> {
  const same = JSON.stringify(words);
  const key = nameOf(same) ?? crypto.randomUUID();
  const body = { ...words, stream: true, client_request_id: key };
  try {
    const accepted = await eitherWay(body, key);
    unsure.delete(same);
    return { accepted, request: key };
  } catch (error) {
    if (uncertain(error)) remember(same, key);
    else unsure.delete(same); // it was refused: the next attempt is another
    throw error;
  }
}

async function eitherWay(body: NewTurn, key: string): Promise<Accepted> {
  const another = watchPerson();
  if (pageSocket.usable) {
    try {
      return await pageSocket.submit(body as unknown as Record<string, unknown>, key);
    } catch (error) {
      if (!(error instanceof NotOpened || error instanceof OutcomeUnknown)) throw error;
    }
  }
  return post(body, key, another);
}

/** Over HTTP, again while nobody answers or while the first attempt is still being worked on. */
async function post(body: NewTurn, key: string, another: () => boolean): Promise<Accepted> {
  const until = Date.now() + patience;
  for (let wait = firstPause; ; wait = Math.min(longestPause, wait * 2)) {
    if (another()) throw notTheirs();
    try {
      return await ask('chat', { body, key });
    } catch (error) {
      if (!uncertain(error) || Date.now() + wait > until) throw error;
    }
    await sleep(wait);
  }
}

/** Whether the words may have been accepted all the same. */
export function uncertain(error: unknown): boolean {
  if (!(error instanceof Failure)) return true;
  return error.unreachable || error.status >= 500 || (error.status === 409 && error.detail('reason') === 'running');
}

function nameOf(same: string): string | undefined {
  const kept = unsure.get(same);
  return kept && kept.until > Date.now() ? kept.key : undefined;
}

function remember(same: string, key: string): void {
  unsure.delete(same); // the latest last: the oldest goes first
  unsure.set(same, { key, until: Date.now() + unsureFor });
  if (unsure.size > mostUnsure) unsure.delete(unsure.keys().next().value!);
}

/** What was said under this name has shown up: the same words again are meant anew. */
export function confirmSubmitted(request: string): void {
  for (const [same, { key }] of unsure) if (key === request) unsure.delete(same);
}

/** Forgets what belongs to the person who has left. */
export function forgetSubmitted(): void {
  unsure.clear();
}
