// One WebSocket from its opening to its end. What goes over it: frames of type
// auth, chat_start, follow, unfollow and ping; what comes: replies by
// request_id, and the events of the runs that are read, by run_id.

import { eventOf } from './event.ts';
import { Failure, failureOfCode } from './failure.ts';
import { endsReading, silenceLimit, type Reading, type ReadResult } from './transport.ts';
import type { Accepted } from './types.ts';

/** A frame of the server: a reply has a type, an event says what happened. */
export interface Heard {
  type?: string;
  event?: string;
  data?: unknown;
  request_id?: string;
  run_id?: string;
  id?: number;
  node?: string;
  attempt?: number;
}

/** The socket could not be opened, or was not seen to sign in. The first frame brings a message along, which may have been heard all the same. */
export class NotOpened extends Error {}

/** The connection broke while somebody waited for a reply. */
export class ConnectionLost extends Error {}

interface Reader {
  alive(): void;
  heard(frame: Heard): void;
  over(reached: ReadResult | Failure): void;
}

interface Asked {
  promise: Promise<Accepted>;
  resolve(accepted: Accepted): void;
  reject(reason: Error): void;
}

/** Who wants to know of a connection. */
export interface ConnectionWatch {
  closed(connection: Connection, tooMany: boolean): void;
  heard(): void;
}

const unauthorized = 4401; // STREAM-05: sign in again
const policy = 1008; // too many frames, too many that failed, or too many sockets
const openLimit = 5_000; // ms to open and sign in; a proxy may swallow the upgrade
const replyLimit = 15_000; // ms for a reply to what was said; then it is asked for over HTTP
const quiet = 12_000; // ms without a word after which the connection is asked whether it lives
const probeLimit = 5_000; // ms for the answer, where the connection is in doubt
const parkedLimit = 10_000; // ms that events wait for whoever reads the run they belong to
const late = 3_000; // ms: a clock that comes later has slept, and cannot tell how long the server was silent

function deferred<T>() {
  let resolve!: (value: T) => void;
  let reject!: (reason: Error) => void;
  const promise = new Promise<T>((kept, broken) => {
    resolve = kept;
    reject = broken;
  });
  promise.catch(() => undefined); // whoever cares awaits it
  return { promise, resolve, reject };
}

export class Connection {
  readonly ready: Promise<void>;
  readonly runs = new Map<string, Reader>();
  /** Runs that were let go of: events of the old reading may still be under way, so they are not read again on this connection. */
  readonly left = new Set<string>();
  unauthorized = false;

  private readonly socket: WebSocket;
  private readonly first: Asked | null;
  private readonly asks = new Map<string, Asked>();
  private readonly started = new Map<string, string>(); // request → run that its chat_start follows
  private readonly parked = new Map<string, Heard[]>(); // events of a run whose reader has not come yet
  private readonly settle: { resolve(): void; reject(reason: Error): void };
  private open = false;
  private ended = false;
  private heardAt = Date.now();
  private deadline = 0; // when a probe must have been answered; 0: none is out
  private clock = 0;
  private clockDue = 0;

  constructor(
    private token: string,
    first: { key: string; frame: Record<string, unknown> } | undefined,
    private readonly watch: ConnectionWatch,
  ) {
    const { promise, resolve, reject } = deferred<void>();
    this.ready = promise;
    this.settle = { resolve, reject };
    this.first = first ? this.await(first.key) : null;
    this.socket = new WebSocket(`${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/v1/chat/stream`);
    this.socket.addEventListener('open', () => {
      if (this.ended) this.socket.close(); // one that opens after all is of no use
      else this.send({ ...first?.frame, type: 'auth', session: token });
    });
    this.socket.addEventListener('message', (message) => this.ended || this.receive(message.data));
    this.socket.addEventListener('close', (event) => this.gone(event.code, event.wasClean ? 'cut' : 'lost'));
    this.socket.addEventListener('error', () => this.gone(0, 'lost'));
    this.clock = window.setTimeout(() => this.gone(0, 'silent'), openLimit);
  }

  /** Whether somebody reads or waits here. */
  get busy(): boolean {
    return this.runs.size > 0 || this.asks.size > 0;
  }

  /** What becomes of what the first frame brought along. */
  get asked(): Promise<Accepted> {
    return this.first?.promise ?? Promise.reject(new ConnectionLost());
  }

  /** Submits a message, and waits for what it was accepted as. */
  submit(key: string, frame: Record<string, unknown>): Promise<Accepted> {
    if (this.ended) return Promise.reject(new ConnectionLost());
    const asked = this.await(key);
    this.send(frame);
    return asked.promise;
  }

  /** Reads a run to its end, or to the end of the connection. */
  read(runID: string, reading: Reading): Promise<ReadResult> {
    if (reading.signal.aborted) return Promise.resolve('lost'); // while the connection was being opened
    if (this.ended) return Promise.resolve('renew');
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.runs.delete(runID);
        this.left.add(runID);
        this.send({ type: 'unfollow', run_id: runID });
        resolve('lost');
      };
      const reader: Reader = {
        alive: () => reading.onHeard?.(),
        heard: (frame) => {
          const kind = frame.event ?? '';
          if (endsReading(kind)) this.runs.delete(runID);
          reading.onEvent(eventOf({ ...frame, event: kind }, frame.id ?? 0));
          if (endsReading(kind)) reader.over('end');
        },
        over: (reached) => {
          this.runs.delete(runID);
          reading.signal.removeEventListener('abort', leave);
          if (reached instanceof Failure) reject(reached);
          else resolve(reached);
        },
      };
      reading.signal.addEventListener('abort', leave, { once: true });
      this.runs.set(runID, reader);
      const waiting = this.parked.get(runID);
      if (!waiting) {
        this.send({ type: 'follow', request_id: crypto.randomUUID(), run_id: runID, after: reading.after });
        if (reading.onHeard) this.send({ type: 'ping' }); // a run may say nothing for long: the pong says that it is followed
        return;
      }
      this.parked.delete(runID); // its chat_start follows it already
      for (const frame of waiting) if (this.runs.get(runID) === reader) reader.heard(frame);
    });
  }

  /** Signs in again, with a token that was renewed. */
  signIn(token: string): void {
    if (token === '' || token === this.token || !this.open) return;
    this.token = token;
    this.send({ type: 'auth', session: token });
  }

  /** Asks whether the connection still lives, where there is reason to doubt it. */
  probe(): void {
    if (this.deadline !== 0 || !this.open || this.ended) return;
    this.send({ type: 'ping' });
    this.deadline = Date.now() + probeLimit;
    this.watchClock();
  }

  close(): void {
    this.gone(1000, 'renew');
  }

  private send(frame: Record<string, unknown>): void {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(frame));
  }

  private await(key: string): Asked {
    const { promise, resolve, reject } = deferred<Accepted>();
    const timer = setTimeout(() => this.answer(key, new ConnectionLost()), replyLimit);
    const asked = {
      promise,
      resolve: (accepted: Accepted) => {
        clearTimeout(timer);
        resolve(accepted);
      },
      reject: (reason: Error) => {
        clearTimeout(timer);
        reject(reason);
      },
    };
    this.asks.set(key, asked);
    return asked;
  }

  private answer(key: string, what: Accepted | Error): void {
    const asked = this.asks.get(key);
    this.asks.delete(key);
    if (what instanceof Error) asked?.reject(what);
    else asked?.resolve(what);
  }

  private receive(data: unknown): void {
    this.heardAt = Date.now();
    this.deadline = 0;
    let frame: Heard;
    try {
      frame = JSON.parse(String(data)) as Heard;
    } catch {
      return; // malformed: not for us (UI-26)
    }
    if (frame.type === 'auth_ok') this.signedIn();
    else if (frame.type === 'chat_started') this.began(frame);
    else if (frame.event === 'error' && !frame.id && !frame.attempt) this.refused(frame);
    else if (frame.event === 'pong') for (const reader of this.runs.values()) reader.alive();
    else if (frame.event && frame.event !== 'ping' && frame.run_id) this.hand(frame.run_id, frame);
  }

  private signedIn(): void {
    if (this.open) return;
    this.open = true;
    this.watchClock();
    this.settle.resolve();
  }

  private began(frame: Heard): void {
    const accepted = frame.data as Accepted;
    const key = frame.request_id ?? '';
    this.started.set(key, accepted.run_id);
    const read = this.runs.has(accepted.run_id); // it was accepted before, and somebody came for it then
    if (this.asks.has(key)) {
      if (!read) this.park(accepted.run_id);
      this.answer(key, accepted);
    } else if (!read) this.send({ type: 'unfollow', run_id: accepted.run_id }); // it took too long: the run is read another way
  }

  /** Keeps the events of a run for its reader, who comes at once or never. */
  private park(runID: string): void {
    this.parked.set(runID, []);
    setTimeout(() => {
      if (!this.parked.delete(runID)) return;
      this.left.add(runID);
      this.send({ type: 'unfollow', run_id: runID });
    }, parkedLimit);
  }

  private hand(runID: string, frame: Heard): void {
    this.watch.heard();
    const reader = this.runs.get(runID);
    if (reader) reader.heard(frame);
    else this.parked.get(runID)?.push(frame);
  }

  /** An error that belongs to a frame of ours, not to a run: those have an id, or the attempt that failed. */
  private refused(frame: Heard): void {
    const key = frame.request_id ?? '';
    const { code, message, details } = (frame.data ?? {}) as { code?: string; message?: string; details?: unknown };
    const failure = failureOfCode(code ?? 'server_error', message ?? '', details);
    if (this.asks.has(key)) return this.answer(key, failure);
    const runID = frame.run_id ?? this.started.get(key) ?? '';
    this.left.add(runID); // whoever comes back reads it over HTTP, which says more
    this.runs.get(runID)?.over(failure);
  }

  /** Looks after how long nothing was heard, and asks before it gives up. */
  private watchClock(): void {
    clearTimeout(this.clock);
    if (this.ended) return;
    const wait = this.deadline ? this.deadline - Date.now() : Math.max(1_000, this.heardAt + quiet - Date.now());
    this.clockDue = Date.now() + wait;
    this.clock = window.setTimeout(() => this.tick(), wait);
  }

  private tick(): void {
    const now = Date.now();
    const slept = now - this.clockDue > late;
    if (slept) {
      // The page was asleep, and what came meanwhile may wait behind this timer.
      this.deadline = 0;
      this.probe();
    } else if ((this.deadline && now >= this.deadline) || now - this.heardAt >= silenceLimit) {
      return this.gone(0, 'silent');
    } else if (!this.deadline && now - this.heardAt >= quiet) {
      this.send({ type: 'ping' });
      this.deadline = this.heardAt + silenceLimit;
    }
    this.watchClock();
  }

  private gone(code: number, reached: ReadResult): void {
    if (this.ended) return;
    this.ended = true;
    this.unauthorized = code === unauthorized;
    clearTimeout(this.clock);
    if (this.socket.readyState === WebSocket.OPEN) this.socket.close(1000);
    this.watch.closed(this, code === policy);
    this.settle.reject(new NotOpened());
    for (const key of this.asks.keys()) this.answer(key, new ConnectionLost());
    for (const reader of this.runs.values()) reader.over(this.unauthorized ? 'renew' : reached);
    this.runs.clear();
    this.parked.clear();
  }
}
