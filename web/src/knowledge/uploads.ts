// Files on their way in: sent, then read by the ingestion run.

import { ask } from '../api/ask.ts';
import { keys, queryClient, unfinished } from '../api/queries.ts';
import { follow } from '../api/follow.ts';
import type { Document, Limits, RunEvent, Uploaded } from '../api/types.ts';
import { refusal, upload, type Destination } from '../api/upload.ts';
import { sentence } from '../i18n/errors.ts';
import { language, words } from '../i18n/index.ts';
import { fileSize, kindsOfFile } from '../lib/format.ts';
import { createStore } from '../lib/store.ts';
import { defaultContext } from './choice.ts';

export interface Upload {
  id: string;
  name: string;
  phase: 'sending' | 'reading' | 'ready' | 'failed';
  done: number;
  total: number;
  passages: number;
  problem: string;
}

export const uploads = createStore<Upload[]>([]);
const aborts = new Map<string, AbortController>();

function change(id: string, next: Partial<Upload>): void {
  uploads.set(uploads.get().map((one) => (one.id === id ? { ...one, ...next } : one)));
}

export function dismiss(id: string): void {
  aborts.get(id)?.abort();
  aborts.delete(id);
  uploads.set(uploads.get().filter((one) => one.id !== id));
}

/** Stops and forgets everything, as when another person signs in. */
export function forgetUploads(): void {
  for (const one of uploads.get()) dismiss(one.id);
}

/** Clears away what needs no more attention. */
export function dismissReady(): void {
  uploads.set(uploads.get().filter((one) => one.phase !== 'ready'));
}

/** Adds files to a collection, or to "My documents" when none is named. */
export async function addFiles(files: File[], contextID: string, chunkSize?: number): Promise<void> {
  const added = files.map((file) => ({ file, row: newRow(file) }));
  uploads.set([...uploads.get(), ...added.map((one) => one.row)]);
  try {
    const limits = await ask('fileLimits');
    const accepted = added.filter(({ file, row }) => !refuse(file, row.id, limits));
    if (accepted.length === 0) return;
    const target = contextID || (await defaultContext());
    for (const { file, row } of accepted) {
      // One at a time: kinder to the server. Meanwhile a file may have been taken away, or its person left.
      if (uploads.get().some((one) => one.id === row.id)) await bring(file, row.id, { contextID: target, chunkSize });
    }
  } catch (error) {
    for (const { row } of added) {
      const now = uploads.get().find((one) => one.id === row.id);
      if (now && now.phase !== 'ready') change(row.id, { phase: 'failed', problem: now.problem || sentence(error) });
    }
  }
}

function newRow(file: File): Upload {
  return { id: crypto.randomUUID(), name: file.name, phase: 'sending', done: 0, total: 0, passages: 0, problem: '' };
}

function refuse(file: File, id: string, limits: Limits): boolean {
  const why = refusal(file, limits);
  if (!why) return false;
  const say = words();
  const sentences = {
    too_large: say.tooLarge(fileSize(limits.max_bytes, language.get())),
    wrong_kind: say.wrongKind(kindsOfFile(limits.extensions, say.andMore)),
    empty: say.emptyFile,
  };
  change(id, { phase: 'failed', problem: sentences[why] });
  return true;
}

async function bring(file: File, id: string, to: Destination): Promise<void> {
  const abort = new AbortController();
  aborts.set(id, abort);
  try {
    const sent = await upload(file, to, abort.signal, (fraction) => change(id, { done: Math.round(fraction * 100), total: 100 }));
    change(id, { phase: 'reading', done: 0, total: 0 });
    refreshLists(to.contextID);
    void watch(sent, id, to.contextID, abort.signal);
  } catch (error) {
    if (!abort.signal.aborted) change(id, { phase: 'failed', problem: sentence(error) });
  }
}

/** Follows the ingestion to its end; what counts is the document's own state. */
async function watch(sent: Uploaded, id: string, contextID: string, signal: AbortSignal): Promise<void> {
  try {
    if (sent.run_id) await follow(sent.run_id, { after: 0, signal, onEvent: (event) => onProgress(id, event), onTrouble: () => undefined });
    const document = sent.document && (await settledDocument(sent.document.id, signal));
    if (document?.status === 'failed' || document?.status === 'skipped') change(id, { phase: 'failed', problem: document.error || words().failedDocument });
    else change(id, { phase: 'ready', passages: document?.chunks ?? 0 });
  } catch (error) {
    if (!signal.aborted) change(id, { phase: 'failed', problem: sentence(error) });
  } finally {
    refreshLists(contextID);
  }
}

function onProgress(id: string, event: RunEvent): void {
  if (event.kind !== 'progress') return;
  const { done, total } = event.data;
  if (total) change(id, { done: done ?? 0, total }); // else it only says what it is doing
}

async function settledDocument(id: string, signal: AbortSignal): Promise<Document> {
  for (;;) {
    const document = await ask('document', { path: { id }, signal });
    if (!unfinished(document)) return document;
    await new Promise((resolve) => setTimeout(resolve, 700));
  }
}

function refreshLists(contextID: string): void {
  void queryClient.invalidateQueries({ queryKey: keys.documents(contextID) });
  void queryClient.invalidateQueries({ queryKey: keys.contexts });
}
