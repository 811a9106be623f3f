// A conversation as it stands: what the server keeps, what the event log says
// beyond it, and what is on its way. One place derives all of it.

import { useEffect, useMemo, useState } from 'react';
import { flushSync } from 'react-dom';
import { useLocation } from 'wouter';
import { useThread } from '../api/thread.ts';
import type { Conversation, Interrupt, Thread } from '../api/types.ts';
import { focusComposer, inComposer } from '../composer/focus.ts';
import { fieldsOfMessage, type Fields } from '../composer/doc.ts';
import { carryOver, chosenBackend, chosenContext, chosenWorkflow, contextOf, handOver, keepWorkflow } from '../knowledge/choice.ts';
import { workflowOf, useWorkflows } from '../knowledge/workflows.ts';
import { moveDraft, newDraft } from '../lib/drafts.ts';
import { useStore } from '../lib/store.ts';
import type { Change, Lock } from './change.ts';
import { followerOf, following, followRun, isReading } from './follower.ts';
import { emptyRun, type RunState } from './run.ts';
import { confirmSubmitted } from './submit.ts';
import { answers, outbox, send, settledElsewhere, stop } from './commands.ts';
import { createGrouping, wholeTurns, withoutFrom, type Turn } from './thread.ts';
import { useLive } from './useLive.ts';

export function useConversation(id: string | null, conversation: Conversation | null, draft = newDraft) {
  const draftKey = id ?? draft;
  const thread = useThread(id);
  const outgoing = useStore(outbox)[draftKey];
  const turns = useTurns(thread.data);
  useHandOver(id, conversation !== null);
  useRejoin(id, thread.data, turns.at(-1)?.runID ?? null);

  const activeID = thread.data?.active_run?.id ?? turns.at(-1)?.runID ?? null;
  useStore(following); // a run read for the first time brings its follower
  const live = useLive(activeID ? followerOf(activeID) : undefined);
  const asked = usePending(thread.data, live.state);
  return {
    draftKey,
    thread,
    turns: useMemo(() => withoutFrom(turns, outgoing?.replaces), [turns, outgoing?.replaces]),
    asked,
    running: asked.length === 0 && isRunning(thread.data, live.state, activeID),
    outgoing,
    change: useChange(id, draftKey, conversation, asked.length > 0 ? 'question' : outgoing || thread.data?.active_run ? 'run' : null),
    submit: useSubmit(id, draftKey, conversation),
    halt: () => (activeID && id ? stop(activeID, id) : Promise.resolve()),
  };
}

function useTurns(thread: Thread | undefined): Turn[] {
  const [grouped] = useState(createGrouping);
  const messages = thread?.data;
  const moreBefore = Boolean(thread?.earlier_cursor);
  return useMemo(() => wholeTurns(grouped(messages ?? []), moreBefore), [grouped, messages, moreBefore]);
}

/** What can be done with the turns; the same object until something of it changes, for there may be thousands of them. */
function useChange(id: string | null, draftKey: string, conversation: Conversation | null, lock: Lock): Change | null {
  const [, go] = useLocation();
  const contextID = contextOf(useStore(chosenContext), draftKey, conversation);
  const workflowID = useWorkflowID(draftKey, conversation);
  const backend = useStore(chosenBackend)[draftKey];
  return useMemo(() => {
    if (!id) return null;
    return {
      conversation: id,
      lock,
      replace: async (message, text) => (await send({ conversation: id, draftKey, text, contextID, workflowID, backend, replaces: message.id, fields: { ...fieldsOfMessage(message, text) } })) !== null,
      go: (to) => {
        if (location.pathname === `/c/${id}`) go(`/c/${to}`);
      },
    };
  }, [id, draftKey, lock, contextID, workflowID, backend, go]);
}

/** Sends words; a new conversation is gone to once the server has made it. */
function useSubmit(id: string | null, draftKey: string, conversation: Conversation | null): (text: string, fields?: Fields) => void {
  const [, navigate] = useLocation();
  const contextID = contextOf(useStore(chosenContext), draftKey, conversation);
  const workflowID = useWorkflowID(draftKey, conversation);
  const backend = useStore(chosenBackend)[draftKey];
  return (text, fields) => {
    const from = location.pathname;
    void send({ conversation: id, draftKey, text, contextID, workflowID, backend, ...(fields ? { fields: { ...fields } } : {}) }).then((made) => {
      if (!made || id) return;
      carryOver(draftKey, made);
      if (workflowID) keepWorkflow(made, workflowID).catch(() => undefined); // remembered here until it is kept
      if (location.pathname !== from) return; // the reader has gone elsewhere
      const writing = inComposer();
      moveDraft(draftKey, made); // what was typed meanwhile
      flushSync(() => navigate(`/c/${made}`));
      if (writing) focusComposer(); // it is another box
    });
  };
}

/** The workflow the next turn follows; '' lets the server choose. */
function useWorkflowID(draftKey: string, conversation: Conversation | null): string {
  return workflowOf(useStore(chosenWorkflow), draftKey, useWorkflows(), conversation?.workflow_id);
}

/** Gives the server the workflow that only this browser knows. */
function useHandOver(id: string | null, there: boolean) {
  useEffect(() => {
    if (id && there) handOver(id).catch(() => undefined); // tried again when it is opened next
  }, [id, there]);
}

/** Reads the run that is going on, also after a reload or when it went on elsewhere. */
function useRejoin(id: string | null, thread: Thread | undefined, last: string | null) {
  const active = thread?.active_run;
  useEffect(() => {
    if (!id || !active) return;
    confirmSubmitted(active.request_id);
    const known = followerOf(active.id);
    const movedOn = known?.state.get().phase === 'waiting' && active.status === 'running';
    if (!known || (movedOn && !isReading(active.id))) followRun(active.id, id);
  }, [id, active]);
  useEffect(() => {
    if (!id || !last || !thread || thread.active_run?.id === last || isReading(last)) return;
    // It waited for a person when it was read last, and is over by now: its question was answered elsewhere.
    if (followerOf(last)?.state.get().phase === 'waiting') followRun(last, id);
  }, [id, thread, last]);
}

/** The open questions: what the server keeps and what the log just said, less what was answered here. */
function usePending(thread: Thread | undefined, live: RunState): Interrupt[] {
  const given = useStore(answers);
  const elsewhere = useStore(settledElsewhere);
  return useMemo(() => {
    const stored = thread?.pending_interrupts ?? (thread?.pending_interrupt ? [thread.pending_interrupt] : []);
    const fresh = live.items.flatMap((item) => (item.kind === 'ask' && !item.settled ? [item.interrupt] : []));
    const byID = new Map([...stored, ...fresh].map((one) => [one.interrupt_id, one]));
    const settled = new Set(live.items.flatMap((item) => (item.kind === 'ask' && item.settled ? [item.key] : [])));
    return [...byID.values()].filter((one) => !(one.interrupt_id in given) && !elsewhere.has(one.interrupt_id) && !settled.has(one.interrupt_id));
  }, [thread, live.items, given, elsewhere]);
}

function isRunning(thread: Thread | undefined, live: RunState, activeID: string | null): boolean {
  if (!activeID) return false;
  if (live !== emptyRun && live.phase !== 'working' && live.phase !== 'waiting') return false;
  return thread?.active_run?.id === activeID;
}
