// Documents that are being read, until they are or cannot be. Many are looked at
// together, so that a folder of files is not as many questions each second.

import { ask } from '../api/ask.ts';
import { sleep } from '../api/call.ts';
import { unfinished } from '../api/queries.ts';
import type { Document } from '../api/types.ts';
import { pauseAfter } from '../api/upload.ts';

interface Waiting {
  id: string;
  contextID: string;
  resolve(document: Document): void;
  reject(reason: unknown): void;
}

const few = 4; // so many are asked for one by one
const page = 100; // documents that one answer tells of
const soon = 700; // ms

const waiting = new Set<Waiting>(); // in the order in which it is their turn
let looking = false;

/** The document once it is no longer read; rejects when it is gone, or the signal aborts. */
export function settled(document: Pick<Document, 'id' | 'context_id'>, signal: AbortSignal): Promise<Document> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason as Error);
    const one = { id: document.id, contextID: document.context_id, resolve, reject };
    waiting.add(one);
    signal.addEventListener('abort', () => refuse([one], signal.reason), { once: true });
    if (!looking) void look();
  });
}

async function look(): Promise<void> {
  looking = true;
  for (let troubles = 0; waiting.size > 0; ) {
    try {
      await lookOnce();
      troubles = 0;
    } catch (error) {
      troubles = Math.min(troubles + 1, 5); // it never gives up: what is read is read without this page
      await sleep(pauseAfter(error, troubles) ?? soon);
    }
    if (waiting.size > 0) await sleep(soon);
  }
  looking = false;
}

/** Those of a context that many are read into are asked for together; of the others a few, in turn. */
async function lookOnce(): Promise<void> {
  const seen = new Set<string>();
  for (const contextID of new Set([...waiting].map((one) => one.contextID))) {
    const those = [...waiting].filter((one) => one.contextID === contextID);
    if (those.length <= few) continue;
    const list = await orRefused(those, () => ask('listDocuments', { path: { id: contextID }, query: { limit: page } }));
    for (const document of list?.data ?? []) {
      seen.add(document.id);
      tell(document);
    }
  }
  for (const one of [...waiting].filter(({ id }) => !seen.has(id)).slice(0, few)) {
    waiting.delete(one);
    waiting.add(one); // the last in line from now on
    const document = await orRefused([one], () => ask('document', { path: { id: one.id } }));
    if (document) tell(document);
  }
}

/** What is answered; where nothing else ever will be, those who wait for it are told so. */
async function orRefused<T>(those: Waiting[], what: () => Promise<T>): Promise<T | undefined> {
  try {
    return await what();
  } catch (error) {
    if (pauseAfter(error, 1) !== null) throw error;
    refuse(those, error);
    return undefined;
  }
}

function refuse(those: Waiting[], reason: unknown): void {
  for (const one of those) if (waiting.delete(one)) one.reject(reason);
}

function tell(document: Document): void {
  if (unfinished(document)) return;
  for (const one of waiting) if (one.id === document.id && waiting.delete(one)) one.resolve(document);
}
