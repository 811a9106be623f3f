// A conversation as this page holds it: a window on its messages that always
// reaches to the newest. Earlier ones are put before it when a reader comes to
// them, and nothing else of the page depends on how many there are.

import { useQuery } from '@tanstack/react-query';
import { ask } from './ask.ts';
import { keys, queryClient } from './queries.ts';
import type { Message, Thread } from './types.ts';

const newest = 60; // messages a conversation opens with
const earlier = 60; // messages a step back brings
const furthest = 40; // steps back for one message that is looked for

function messages(id: string, query: { latest?: true; before?: string; limit: number }, signal?: AbortSignal): Promise<Thread> {
  return ask('listMessages', { path: { id }, query, ...(signal ? { signal } : {}) }) as Promise<Thread>; // a chat knows no other questions than its own
}

/** The messages of a conversation, with what waits and what runs. */
export function useThread(id: string | null) {
  return useQuery({
    queryKey: keys.thread(id ?? ''),
    queryFn: async ({ signal }) => {
      const fresh = await messages(id!, { latest: true, limit: newest }, signal);
      return renewed(queryClient.getQueryData<Thread>(keys.thread(id!)), fresh);
    },
    enabled: id !== null,
    // Somebody may answer elsewhere, and a second question may follow the first.
    refetchInterval: (query) => (query.state.data?.pending_interrupt ? 3_000 : false),
  });
}

/**
 * What is held, with the newest messages as the server just gave them. A
 * message stands after the same others for ever, whichever versions are shown:
 * if the first of the fresh ones is held, so is everything before it.
 */
export function renewed(held: Thread | undefined, fresh: Thread): Thread {
  const first = fresh.data[0];
  const at = first && held ? held.data.findIndex((one) => one.id === first.id) : -1;
  if (at <= 0) return fresh;
  return { ...fresh, data: [...held!.data.slice(0, at), ...fresh.data], earlier_cursor: held!.earlier_cursor };
}

/** A page put before what is held; unless that begins elsewhere by now. */
export function preceded(held: Thread | undefined, page: Thread, cursor: string): Thread | undefined {
  if (held?.earlier_cursor !== cursor) return held;
  return { ...held, data: [...page.data, ...held.data], earlier_cursor: page.earlier_cursor };
}

/** Brings the messages before those that are held. */
export async function loadEarlier(id: string): Promise<void> {
  const cursor = queryClient.getQueryData<Thread>(keys.thread(id))?.earlier_cursor;
  if (!cursor) return;
  const page = await messages(id, { before: cursor, limit: earlier });
  queryClient.setQueryData<Thread>(keys.thread(id), (held) => preceded(held, page, cursor));
}

/** Shows what the server says of a conversation now, back to a message of it. */
export async function renewTo(id: string, fresh: Thread, message: string): Promise<void> {
  let thread = renewed(queryClient.getQueryData<Thread>(keys.thread(id)), fresh);
  for (let step = 0; step < furthest && thread.earlier_cursor && !thread.data.some((one) => one.id === message); step++) {
    const cursor = thread.earlier_cursor;
    thread = preceded(thread, await messages(id, { before: cursor, limit: earlier }), cursor)!;
  }
  queryClient.setQueryData<Thread>(keys.thread(id), thread);
}

/** A thread with a message that was just accepted; what it replaces is gone, with all that came after. */
export function withSent(held: Thread | undefined, message: Message, replaces?: string): Pick<Thread, 'data' | 'earlier_cursor'> {
  const known = held?.data ?? [];
  const kept = { earlier_cursor: held?.earlier_cursor ?? null };
  if (known.some((one) => one.id === message.id)) return { ...kept, data: known };
  const at = replaces ? known.findIndex((one) => one.id === replaces) : -1;
  if (at < 0) return { ...kept, data: [...known, { ...message, seq: (known.at(-1)?.seq ?? 0) + 1 }] };
  const old = known[at]!;
  const ids = [...(old.versions?.ids ?? [old.id]), message.id];
  return { ...kept, data: [...known.slice(0, at), { ...message, seq: old.seq, versions: { ids, at: ids.length - 1 } }] };
}

/** The messages of one run of a conversation, however long ago that was. */
export function useMessagesOf(conversation: string, run: string) {
  return useQuery({
    queryKey: ['messages of', run],
    queryFn: async ({ signal }) => {
      let page = await messages(conversation, { latest: true, limit: earlier }, signal);
      let found = page.data.filter((one) => one.run_id === run);
      // Its first message may stand on the page before.
      for (let step = 0; step < furthest && page.earlier_cursor && (found.length === 0 || found[0] === page.data[0]); step++) {
        page = await messages(conversation, { before: page.earlier_cursor, limit: earlier }, signal);
        found = [...page.data.filter((one) => one.run_id === run), ...found];
      }
      return found;
    },
  });
}
