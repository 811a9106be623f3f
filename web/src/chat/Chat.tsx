import { useEffect, useMemo, useRef } from 'react';
import { useLocation } from 'wouter';
import { Failure } from '../api/failure.ts';
import { useThread, useUIConfig } from '../api/queries.ts';
import type { Conversation, Interrupt, Thread } from '../api/types.ts';
import { DropZone } from '../knowledge/DropZone.tsx';
import { carryOver, chosenContext, chosenWorkflow, contextOf } from '../knowledge/choice.ts';
import { useWords } from '../i18n/index.ts';
import { newDraft } from '../lib/drafts.ts';
import { useStore } from '../lib/store.ts';
import { Composer } from './Composer.tsx';
import { Empty } from './Empty.tsx';
import { followerOf, following, isReading, read } from './follower.ts';
import { emptyRun, type RunState } from './run.ts';
import { Scroller } from './Scroller.tsx';
import { Slip } from './Slip.tsx';
import { answers, giveBack, outbox, send, sentence, settledElsewhere, stop } from './talk.ts';
import { turnsOf } from './thread.ts';
import { TurnView, UserWords } from './TurnView.tsx';
import { useLive } from './useLive.ts';

interface Props {
  id: string | null;
  conversation: Conversation | null;
}

/** One conversation: its turns, the question that is open, and the box to write in. */
export function Chat({ id, conversation }: Props) {
  const words = useWords();
  const [, navigate] = useLocation();
  const draftKey = id ?? newDraft;
  const thread = useThread(id);
  const config = useUIConfig();
  const outgoing = useStore(outbox)[draftKey];
  const chosen = useStore(chosenContext);
  const workflow = useStore(chosenWorkflow)[draftKey] ?? '';
  const turns = useMemo(() => turnsOf(thread.data?.data ?? []), [thread.data]);
  useRejoin(id, thread.data);

  const activeID = thread.data?.active_run?.id ?? turns.at(-1)?.runID ?? null;
  useStore(following);
  const live = useLive(activeID ? followerOf(activeID) : undefined);
  const asked = usePending(thread.data, live.state);
  const running = isRunning(thread.data, live.state, activeID, asked.length > 0);
  const started = turns.length > 0 || outgoing !== undefined;

  async function submit(text: string) {
    const contextID = contextOf(chosen, draftKey, conversation);
    const to = await send({ conversation: id, draftKey, text, contextID, workflowID: workflow });
    if (to && !id) {
      carryOver(draftKey, to);
      if (location.pathname === '/') navigate(`/c/${to}`);
    }
  }

  useFocusBack(asked.length > 0);

  const missing = thread.error instanceof Failure && thread.error.status === 404;
  return (
    <DropZone draftKey={draftKey} conversation={conversation}>
      <main className="chat" aria-label={words.chat}>
        <Scroller running={running} resetOn={outgoing?.text ?? ''}>
          {id && thread.isPending && <Skeleton />}
          {thread.isError && <LoadProblem error={thread.error} missing={missing} retry={() => void thread.refetch()} />}
          {!id && !started && <Empty start={(text) => void submit(text)} />}
          {turns.map((turn) => (
            <TurnView
              key={turn.key}
              turn={turn}
              follower={turn.runID ? followerOf(turn.runID) : undefined}
              active={turn.runID !== null && turn.runID === thread.data?.active_run?.id}
              giveBack={(text) => giveBack(draftKey, text)}
            />
          ))}
          {outgoing && <UserWords text={outgoing.text} sending />}
        </Scroller>
        <div className="foot">
          {asked.length > 0 && <Slip asked={asked} />}
          {!missing && (
            <Composer
              key={draftKey}
              draftKey={draftKey}
              conversation={conversation}
              question={asked[0] ?? null}
              running={running && activeID !== null}
              sending={outgoing !== undefined}
              onSend={(text) => void submit(text)}
              onStop={() => (activeID && id ? stop(activeID, id) : Promise.resolve())}
            />
          )}
          {config.data?.model.generative === false && (
            <p className="keyless" role="note">
              {words.keyless}
            </p>
          )}
        </div>
      </main>
    </DropZone>
  );
}

/** Reads the run that is going on, also after a reload or when it went on elsewhere. */
function useRejoin(id: string | null, thread: Thread | undefined) {
  const active = thread?.active_run;
  useEffect(() => {
    if (!id || !active) return;
    const known = followerOf(active.id);
    const movedOn = known?.state.get().phase === 'waiting' && active.status === 'running';
    if (!known || (movedOn && !isReading(active.id))) read(active.id, id);
  }, [id, active]);
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

/** Once the last question is settled its buttons are gone: the focus goes on to the box. */
function useFocusBack(asking: boolean) {
  const was = useRef(asking);
  useEffect(() => {
    if (was.current && !asking && matchMedia('(pointer: fine)').matches) document.getElementById('message')?.focus();
    was.current = asking;
  }, [asking]);
}

function isRunning(thread: Thread | undefined, live: RunState, activeID: string | null, asked: boolean): boolean {
  if (asked || !activeID) return false;
  if (live !== emptyRun && live.phase !== 'working' && live.phase !== 'waiting') return false;
  return thread?.active_run?.id === activeID;
}

function Skeleton() {
  return (
    <div className="skeleton" aria-hidden="true">
      <i />
      <i />
      <i />
    </div>
  );
}

function LoadProblem({ error, missing, retry }: { error: Error; missing: boolean; retry(): void }) {
  const words = useWords();
  return (
    <div className="load-problem" role="alert">
      <p>{missing ? words.notFound : `${words.loadFailed} ${sentence(error)}`}</p>
      {!missing && (
        <button type="button" onClick={retry}>
          {words.tryAgain}
        </button>
      )}
    </div>
  );
}
