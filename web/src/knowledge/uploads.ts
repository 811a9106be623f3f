// Files on their way in: sent, then read by the ingestion run. They are sent one
// after the other, as fast as the server takes them: told to wait, they wait.

import { ask } from '../api/ask.ts';
import { sleep } from '../api/call.ts';
import { Failure } from '../api/failure.ts';
import { keys, queryClient, unfinished } from '../api/queries.ts';
import { follow } from '../api/follow.ts';
import type { Limits, RunEvent, Uploaded } from '../api/types.ts';
import { patiently, refusal, upload, type Destination } from '../api/upload.ts';
import { sentence } from '../i18n/errors.ts';
import { language, words } from '../i18n/index.ts';
import { told } from '../i18n/said.ts';
import { fileSize, kindsOfFile } from '../lib/format.ts';
import { createStore } from '../lib/store.ts';
import { defaultContext } from './choice.ts';
import { found, hidden, inFolder, namesOf, nothingLeftOut, type Found, type Gathered, type LeftOut } from './found.ts';
import { settled } from './settled.ts';

export interface Upload {
  id: string;
  name: string; // with the folders it lies in, where it came in one
  phase: 'waiting' | 'sending' | 'reading' | 'ready' | 'failed';
  done: number;
  total: number;
  /** What reads it is made ready first: the reader of PDF files, the first time. */
  preparing?: boolean;
  passages: number;
  /** When the version came that it takes the place of; missing: it is new. */
  replaces?: string | undefined;
  problem: string;
  /** It failed for a reason that may have passed by now. */
  mayRetry: boolean;
}

export const uploads = createStore<Upload[]>([]);

/** What of the last folder was not sent; null: nothing, or it has been read. */
export const leftOut = createStore<LeftOut | null>(null);

/** From more files than these on, one line stands for them. */
export const few = 4;

/** A file with where it goes, kept until it is read: it may have to be sent again. */
interface Job extends Found {
  id: string;
  to: Destination;
}

const jobs = new Map<string, Job>();
const aborts = new Map<string, AbortController>();
let leaving = new AbortController(); // aborts when the person leaves

function change(id: string, next: Partial<Upload>): void {
  uploads.set(uploads.get().map((one) => (one.id === id ? { ...one, ...next } : one)));
}

function fail(id: string, problem: string, mayRetry: boolean): void {
  change(id, { phase: 'failed', problem, mayRetry });
}

function forget(gone: (one: Upload) => boolean): void {
  for (const one of uploads.get().filter(gone)) {
    aborts.get(one.id)?.abort();
    aborts.delete(one.id);
    jobs.delete(one.id);
  }
  uploads.set(uploads.get().filter((one) => !gone(one)));
}

export function dismiss(id: string): void {
  forget((one) => one.id === id);
}

/** Takes all away; what has not been sent yet is not sent. */
export function dismissAll(): void {
  forget((one) => one.phase !== 'failed');
}

export function dismissFailed(): void {
  forget((one) => one.phase === 'failed');
}

/** Stops and forgets everything, as when another person signs in. */
export function forgetUploads(): void {
  leaving.abort();
  leaving = new AbortController();
  forget(() => true);
  leftOut.set(null);
}

/** Clears away what needs no more attention. Of many that are under way none goes: their line counts them. */
export function dismissReady(): void {
  const going = uploads.get().filter((one) => one.phase !== 'failed');
  if (going.length > few && going.some((one) => one.phase !== 'ready')) return;
  forget((one) => one.phase === 'ready');
}

/** Adds files to a collection, or to "My documents" when none is named. */
export function addFiles(files: File[], contextID: string, chunkSize?: number): Promise<void> {
  return addGathered({ files: files.map(found), leftOut: nothingLeftOut }, contextID, chunkSize);
}

/** Adds what was dropped. What in a folder cannot be read is left out, and counted. */
export async function addGathered(gathered: Gathered, contextID: string, chunkSize?: number): Promise<void> {
  const files = gathered.files.filter((one) => !hidden(one));
  const left = { ...gathered.leftOut, hidden: gathered.leftOut.hidden + gathered.files.length - files.length };
  const names = namesOf(files.map((one) => one.path));
  const added = files.map((one, n): Job => ({ ...one, id: crypto.randomUUID(), to: { contextID, chunkSize, name: names[n], origin: inFolder(one) ? one.path : undefined } }));
  for (const job of added) jobs.set(job.id, job);
  uploads.set([...uploads.get(), ...added.map(rowOf)]);
  await send(added, left);
}

/** Sends again what failed for a reason that may have passed: one file, or all of them. */
export async function retry(id?: string): Promise<void> {
  const again = uploads.get().filter((one) => one.phase === 'failed' && one.mayRetry && (id === undefined || one.id === id));
  const those = again.flatMap((one) => jobs.get(one.id) ?? []);
  for (const job of those) change(job.id, rowOf(job));
  await send(those, { ...nothingLeftOut });
}

function rowOf({ id, path }: Job): Upload {
  return { id, name: path, phase: 'waiting', done: 0, total: 0, passages: 0, problem: '', mayRetry: false };
}

async function send(those: Job[], left: LeftOut): Promise<void> {
  const { signal } = leaving;
  try {
    const limits = await patiently(() => ask('fileLimits'), signal);
    const accepted = accept(those, limits, left);
    if (Object.values(left).some(Boolean)) leftOut.set(left);
    const first = accepted.find(isThere);
    if (!first || signal.aborted) return;
    const contextID = first.to.contextID || (await patiently(defaultContext, signal));
    for (const job of accepted) {
      // One at a time: kinder to the server. Meanwhile a file may have been taken away, or its person left.
      if (isThere(job)) await bring(job, contextID);
    }
  } catch (error) {
    if (signal.aborted) return;
    for (const job of those) if (rowFor(job)?.phase === 'waiting') fail(job.id, sentence(error), true);
  }
}

function rowFor({ id }: Job): Upload | undefined {
  return uploads.get().find((one) => one.id === id);
}

function isThere(job: Job): boolean {
  return rowFor(job) !== undefined;
}

/** Those that can be read. The others say why they cannot; in a folder they are only counted. */
function accept(those: Job[], limits: Limits, left: LeftOut): Job[] {
  const out = new Set<string>();
  const accepted = those.filter((job) => {
    const why = refusal(job.file, limits);
    if (inFolder(job) && (why === 'wrong_kind' || why === 'empty')) {
      left[why === 'empty' ? 'empty' : 'unsupported']++;
      out.add(job.id);
    } else if (why) {
      fail(job.id, why === 'too_large' ? words().tooLarge(fileSize(limits.max_bytes, language.get())) : notReadable(job, why, limits), false);
    }
    return why === null;
  });
  forget((one) => out.has(one.id));
  return accepted;
}

function notReadable({ file }: Job, why: 'wrong_kind' | 'empty', limits: Limits): string {
  if (why === 'empty') return words().emptyFile;
  if (image.test(file.name)) return words().imageFile;
  return words().wrongKind(kindsOfFile(limits.extensions, words().andMore));
}

const image = /\.(png|jpe?g|jfif|gif|webp|tiff?|bmp|hei[cf]|avif)$/i;

/** Sends one file, however often it takes. A refusal that the others would get too is thrown. */
async function bring(job: Job, contextID: string): Promise<void> {
  const { id } = job;
  const to = { ...job.to, contextID };
  const abort = new AbortController();
  aborts.set(id, abort);
  const sending = () => {
    change(id, { phase: 'sending', done: 0, total: 0 });
    return upload(job.file, to, abort.signal, (fraction) => change(id, { done: Math.round(fraction * 100), total: 100 }));
  };
  try {
    const sent = await patiently(sending, abort.signal, () => change(id, { phase: 'waiting' }));
    change(id, { phase: 'reading', done: 0, total: 0, replaces: sent.replaces?.created_at });
    refreshLists(contextID);
    void watch(sent, id, contextID, abort.signal);
  } catch (error) {
    if (abort.signal.aborted) return;
    fail(id, sentence(error), !(error instanceof Failure && error.status === 400 && error.detail('reason') !== 'stalled'));
    if (isOfAll(error)) throw error;
  }
}

const wrongWithAll = [0, 401, 403, 404, 502, 503, 504]; // nothing answers, the person has gone, or where it was to go has

function isOfAll(error: unknown): boolean {
  return error instanceof Failure && (wrongWithAll.includes(error.status) || (error.status === 409 && error.detail('reason') === 'storage'));
}

const mostFollowed = 4; // runs whose steps are shown; of the others it is enough to know the end
let following = 0;
const inLine: (() => void)[] = [];

const patience = 5_000; // ms until a document is asked for though its run has not said that it has ended

/** Follows the ingestion to its end; what counts is the document's own state. */
async function watch({ document, run_id: run }: Uploaded, id: string, contextID: string, signal: AbortSignal): Promise<void> {
  const settling = new AbortController();
  try {
    // What a document says that was there before is of its last reading, until this one has ended.
    const before = document ? !unfinished(document) : false;
    if (run && (before || following < mostFollowed)) {
      const end = followed(run, id, AbortSignal.any([signal, settling.signal]));
      await (before ? end : Promise.race([end, sleep(patience, signal)]));
    }
    const read = document && (await settled(document, signal));
    if (read?.status === 'failed' || read?.status === 'skipped') fail(id, told(read.error ?? '') || words().failedDocument, true);
    else change(id, { phase: 'ready', passages: read?.chunks ?? 0 });
  } catch (error) {
    if (!signal.aborted) fail(id, sentence(error), true);
  } finally {
    settling.abort();
    if (uploads.get().find((one) => one.id === id)?.phase === 'ready') jobs.delete(id); // its file is needed no more
    refreshLists(contextID);
  }
}

/** Reads along with a run, when there is a place for it. That it cannot be read says nothing of the document. */
async function followed(run: string, id: string, signal: AbortSignal): Promise<void> {
  if (following >= mostFollowed) await new Promise<void>((resolve) => inLine.push(resolve));
  following++;
  try {
    await follow(run, { after: 0, signal, onEvent: (event) => onProgress(id, event), onTrouble: () => undefined });
  } catch {
    // The document itself says what became of it.
  } finally {
    following--;
    inLine.shift()?.();
  }
}

export function onProgress(id: string, event: RunEvent): void {
  if (event.kind !== 'progress') return;
  const { done, total } = event.data;
  change(id, total ? { done: done ?? 0, total } : { preparing: 'preparing' in event.data }); // without a total it only says what it is doing
}

const pause = 2_000; // ms between two looks at the lists
const stale = new Map<string, boolean>(); // by context looked at lately: whether something came since

/** Brings the lists up to date: at once, and then not more often than makes sense to somebody who looks on. */
function refreshLists(contextID: string): void {
  const lately = stale.has(contextID);
  stale.set(contextID, lately);
  if (lately) return;
  void queryClient.invalidateQueries({ queryKey: keys.documents(contextID) });
  void queryClient.invalidateQueries({ queryKey: keys.contexts });
  setTimeout(() => {
    const again = stale.get(contextID);
    stale.delete(contextID);
    if (again) refreshLists(contextID);
  }, pause);
}

/** Leaving the page would lose what has not been sent: of many files, the browser asks first. */
window.addEventListener('beforeunload', (event) => {
  if (uploads.get().filter((one) => one.phase === 'waiting' || one.phase === 'sending').length > few) event.preventDefault();
});
