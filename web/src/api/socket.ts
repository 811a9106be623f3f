// The WebSocket of this page (UI-04): one, for all its runs. It is opened by
// the first thing said or read, signs in with its first frame, which brings the
// message along where there is one (UI-35), and stays open.
//
// Where no socket can be opened, as behind some proxies, streams over HTTP do
// the same; it is tried again later. See readRun.ts and chat/say.ts.

import { Failure } from './failure.ts';
import { Line, Unopened } from './line.ts';
import { accessToken, refresh, session } from './session.ts';
import type { Transport } from './transport.ts';
import type { Accepted } from './types.ts';

export { Unopened } from './line.ts';

/** The line broke before it was told what became of what was said: say it again under the same name. */
export class Unknown extends Error {}

const mostRuns = 24; // runs of one socket; the server's bound is 32, and the rest come over HTTP
const firstAbstinence = 1_000; // ms without a socket after it could not be opened
const longestAbstinence = 5 * 60_000; // ms
const idleLimit = 5 * 60_000; // ms a socket that carries nothing is kept

let line: Line | null = null;
let opening: Promise<Line> | null = null;
let coming: Line | null = null; // the line that is being opened
let era = 0; // counts who left: a line of one person is never the next one's
let failures = 0; // times in a row that no socket could be opened
let notBefore = 0; // when it may be tried again, by Date.now()
let idle = 0;

/** Whether to try the socket at all. */
export function socketMay(): boolean {
  if (typeof WebSocket === 'undefined' || !accessToken()) return false;
  return line !== null || Date.now() >= notBefore;
}

export function socketMayRead(runID: string): boolean {
  if (!socketMay()) return false;
  return line === null || (line.runs.size < mostRuns && !line.left.has(runID));
}

/**
 * Says something over the socket. Throws a Failure when it was refused, and
 * Unopened where no line came to be or Unknown where it broke before the
 * reply: in either case nobody can tell whether it was heard.
 */
export async function sayBySocket(body: Record<string, unknown>, key: string): Promise<Accepted> {
  const frame = { ...body, request_id: key, client_request_id: key };
  // Only the first frame of a new line can bring the message along.
  const asked = !line && !opening ? { key, frame } : undefined;
  const open = await ready(asked);
  try {
    return await (asked ? open.asked : open.say(key, { ...frame, type: 'chat_start' }));
  } catch (error) {
    throw error instanceof Failure ? error : new Unknown();
  }
}

/** Reads a run's events over the socket. */
export const readBySocket: Transport = async (runID, reading) => {
  const open = await ready();
  return open.read(runID, reading);
};

/** Ends the socket, as when the person leaves. */
export function closeSocket(): void {
  era++;
  line?.close();
  coming?.close();
  line = coming = opening = null;
  failures = notBefore = 0;
}

interface First {
  key: string;
  frame: Record<string, unknown>;
}

function ready(first?: First): Promise<Line> {
  if (line) return Promise.resolve(line);
  if (opening) return opening;
  const mine = connect(first).finally(() => {
    if (opening === mine) opening = null;
  });
  return (opening = mine);
}

/** Opens a line. A token that has run out is renewed, once. */
async function connect(first?: First): Promise<Line> {
  const begun = era;
  for (let renewed = false; ; renewed = true) {
    const token = accessToken();
    const next = (coming = new Line(token ?? '', first, watch));
    try {
      await next.ready;
      if (era !== begun) throw new Unopened(); // it opened in the moment they left
      failures = 0;
      line = next;
      coming = null;
      restIdle();
      return next;
    } catch (error) {
      if (era !== begun) {
        next.close();
        throw new Unopened();
      }
      coming = null;
      if (next.unauthorized && !renewed && (accessToken() !== token || (await renew())) && era === begun) continue;
      if (era === begun) abstain();
      throw error instanceof Unopened ? error : new Unopened();
    }
  }
}

async function renew(): Promise<boolean> {
  return refresh().catch(() => false);
}

function abstain(): void {
  notBefore = Date.now() + Math.min(longestAbstinence, firstAbstinence * 2 ** failures++);
}

const watch = {
  closed(ended: Line, tooMany: boolean): void {
    if (line !== ended) return; // one that did not come to be: whoever opened it sees to that
    line = null;
    if (tooMany) abstain(); // we were cut for talking too much: be quiet for a while
  },
  heard(): void {
    if (Date.now() - idleSince > idleLimit / 10) restIdle();
  },
};

let idleSince = 0;

/** Closes a line that has carried nothing for long; it is opened again when there is something. */
function restIdle(): void {
  idleSince = Date.now();
  clearTimeout(idle);
  idle = window.setTimeout(() => {
    if (line?.busy) return restIdle();
    line?.close();
    line = null;
  }, idleLimit);
}

let owner = session.get().user?.id;

// A renewed token signs in on the open line too; nobody signed in, or somebody else, closes it.
session.subscribe(() => {
  const { state, user } = session.get();
  if (state === 'out' || (owner !== undefined && user?.id !== owner)) closeSocket();
  else line?.signIn(accessToken() ?? '');
  owner = user?.id;
});

if (typeof window !== 'undefined') {
  // After another network or a long sleep a line can be dead without a word.
  window.addEventListener('online', () => {
    failures = notBefore = 0;
    line?.probe();
  });
  window.addEventListener('offline', () => line?.probe());
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') line?.probe();
  });
}
