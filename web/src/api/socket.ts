// The WebSocket of a page (UI-04): one, for all its runs. It is opened by the
// first message or reading, signs in with its first frame, which brings the
// message along where there is one (UI-35), and stays open.
//
// Where no socket can be opened, as behind some proxies, streams over HTTP do
// the same; it is tried again later. See readRun.ts and chat/submit.ts.

import { Connection, NotOpened } from './connection.ts';
import { Failure } from './failure.ts';
import type { Reading, ReadResult } from './transport.ts';
import type { Accepted } from './types.ts';

/** The connection broke before it was told what became of what was said: say it again under the same name. */
export class OutcomeUnknown extends Error {}

/** Who the socket signs in as. */
export interface SocketAuth {
  /** The access token; null when nobody is signed in. */
  token(): string | null;
  /** Renews the token; false when it could not be renewed. Never rejects. */
  renew(): Promise<boolean>;
}

const mostRuns = 24; // runs of one connection; the server's bound is 32, and the rest come over HTTP
const firstBackoff = 1_000; // ms without a socket after it could not be opened
const longestBackoff = 5 * 60_000; // ms
const idleLimit = 5 * 60_000; // ms a connection that carries nothing is kept

interface FirstMessage {
  key: string;
  frame: Record<string, unknown>;
}

/** Keeps at most one connection: opens it when it is needed, and leaves it alone for a while where it cannot be opened. */
export class ChatSocket {
  private connection: Connection | null = null; // the one that is signed in
  private opening: Promise<Connection> | null = null;
  private pending: Connection | null = null; // the one that is being opened
  private closings = 0; // counts close(): a connection of one person is never the next one's
  private failures = 0; // times in a row that none could be opened
  private notBefore = 0; // when it may be tried again, by Date.now()
  private idleTimer = 0;
  private idleSince = 0; // when the timer was set, by Date.now()

  constructor(private readonly auth: SocketAuth) {}

  /** Whether to try the socket at all. */
  get usable(): boolean {
    if (typeof WebSocket === 'undefined' || !this.auth.token()) return false;
    return this.connection !== null || Date.now() >= this.notBefore;
  }

  /** Whether to try it for reading this run. */
  canRead(runID: string): boolean {
    if (!this.usable) return false;
    return this.connection === null || (this.connection.runs.size < mostRuns && !this.connection.left.has(runID));
  }

  /**
   * Submits a message over the socket. Throws a Failure when it was refused, and
   * NotOpened where no connection came to be or OutcomeUnknown where it broke
   * before the reply: in either case nobody can tell whether it was heard.
   */
  async submit(body: Record<string, unknown>, key: string): Promise<Accepted> {
    const frame = { ...body, request_id: key, client_request_id: key };
    // Only the first frame of a new connection can bring the message along.
    const first = !this.connection && !this.opening ? { key, frame } : undefined;
    const connection = await this.ready(first);
    try {
      return await (first ? connection.asked : connection.submit(key, { ...frame, type: 'chat_start' }));
    } catch (error) {
      throw error instanceof Failure ? error : new OutcomeUnknown();
    }
  }

  /** Reads a run's events over the socket. Throws NotOpened where no connection came to be. */
  async read(runID: string, reading: Reading): Promise<ReadResult> {
    const connection = await this.ready();
    return connection.read(runID, reading);
  }

  /** Signs in again on the open connection, where the token has been renewed. */
  signIn(): void {
    this.connection?.signIn(this.auth.token() ?? '');
  }

  /** Asks whether the connection still lives, where there is reason to doubt it. */
  probe(): void {
    this.connection?.probe();
  }

  /** Tries again at once what could not be opened: the reason has gone. */
  resetBackoff(): void {
    this.failures = this.notBefore = 0;
  }

  /** Ends the connection and whatever is being opened, as when the person leaves. It may be used again by the next one. */
  close(): void {
    this.closings++;
    clearTimeout(this.idleTimer);
    this.connection?.close();
    this.pending?.close();
    this.connection = this.pending = this.opening = null;
    this.resetBackoff();
  }

  private ready(first?: FirstMessage): Promise<Connection> {
    if (this.connection) return Promise.resolve(this.connection);
    if (this.opening) return this.opening;
    const mine = this.connect(first).finally(() => {
      if (this.opening === mine) this.opening = null;
    });
    return (this.opening = mine);
  }

  /** Opens a connection. A token that has run out is renewed, once. */
  private async connect(first?: FirstMessage): Promise<Connection> {
    const begun = this.closings;
    for (let renewed = false; ; renewed = true) {
      const token = this.auth.token();
      const next = (this.pending = new Connection(token ?? '', first, {
        closed: (ended, tooMany) => this.closed(ended, tooMany),
        heard: () => this.heard(),
      }));
      try {
        await next.ready;
        if (this.closings !== begun) throw new NotOpened(); // it opened in the moment they left
        this.failures = 0;
        this.connection = next;
        this.pending = null;
        this.restartIdle();
        return next;
      } catch (error) {
        if (this.closings !== begun) {
          next.close();
          throw new NotOpened();
        }
        this.pending = null;
        if (next.unauthorized && !renewed && (this.auth.token() !== token || (await this.auth.renew())) && this.closings === begun) continue;
        if (this.closings === begun) this.backOff();
        throw error instanceof NotOpened ? error : new NotOpened();
      }
    }
  }

  private backOff(): void {
    this.notBefore = Date.now() + Math.min(longestBackoff, firstBackoff * 2 ** this.failures++);
  }

  private closed(ended: Connection, tooMany: boolean): void {
    if (this.connection !== ended) return; // one that did not come to be: whoever opened it sees to that
    this.connection = null;
    if (tooMany) this.backOff(); // we were cut for talking too much: be quiet for a while
  }

  private heard(): void {
    if (Date.now() - this.idleSince > idleLimit / 10) this.restartIdle();
  }

  /** Closes a connection that has carried nothing for long; it is opened again when there is something. */
  private restartIdle(): void {
    this.idleSince = Date.now();
    clearTimeout(this.idleTimer);
    this.idleTimer = window.setTimeout(() => {
      if (this.connection?.busy) return this.restartIdle();
      this.connection?.close();
      this.connection = null;
    }, idleLimit);
  }
}
