import { useEffect, useMemo, useState, type CSSProperties } from 'react';
import type { SurfaceInfo } from '../api/gen.ts';
import { useUIConfig } from '../api/queries.ts';
import { watchPerson } from '../api/session.ts';
import { Composer } from '../chat/Composer.tsx';
import { giveBack, notice, outbox, stop } from '../chat/commands.ts';
import { Empty } from '../chat/Empty.tsx';
import { followerOf, following, followRun } from '../chat/follower.ts';
import { QuestionCard } from '../chat/QuestionCard.tsx';
import { emptyRun } from '../chat/run.ts';
import { Scroller } from '../chat/Scroller.tsx';
import { submit } from '../chat/submit.ts';
import { turnsOf, type Turn } from '../chat/thread.ts';
import { TurnView, UserWords } from '../chat/TurnView.tsx';
import { useLive } from '../chat/useLive.ts';
import { sentence } from '../i18n/errors.ts';
import { language, useWords } from '../i18n/index.ts';
import { surfaceOf, SurfaceContext } from '../knowledge/surface.ts';
import { useWorkflows } from '../knowledge/workflows.ts';
import { useStore } from '../lib/store.ts';
import { Icon } from '../shell/Icon.tsx';
import { asked, begin, historyOf, kept, keptOf, settled } from './kept.ts';
import { said } from './said.ts';
import { Told } from './Told.tsx';
import { useSurfaceWords } from './words.ts';

const runs = new Map<string, string>(); // by the key of a turn, of this page

/** A conversation with an assistant of which the server keeps nothing (GRND-47). */
export function KeptHere({ surface }: { surface: SurfaceInfo }) {
  const words = useWords();
  const own = useSurfaceWords();
  const locale = useStore(language);
  const { path } = surface;
  const draftKey = `_new:${path}`;
  const { messages, active } = keptOf(useStore(kept), path);
  const outgoing = useStore(outbox)[draftKey];
  const workflow = useWorkflows()?.find((one) => one.id === surface.workflow_id);
  const look = useMemo(() => workflow && surfaceOf(workflow, locale), [workflow, locale]);
  const turns = useTurns(messages);
  useStore(following); // a run read for the first time brings its follower
  const live = useLive(active ? followerOf(active.run) : undefined).state;
  const [at, setAt] = useState(0);
  const questions = live.phase === 'waiting' ? live.items.flatMap((item) => (item.kind === 'ask' && !item.settled ? [item.interrupt] : [])) : [];
  const running = active !== null && questions.length === 0;
  useAnswer(path, active, live);

  async function send(text: string) {
    const another = watchPerson();
    notice(draftKey, '');
    outbox.set({ ...outbox.get(), [draftKey]: { text } });
    try {
      const { accepted } = await submit({ message: text, workflow_id: surface.workflow_id, history: historyOf(messages) });
      if (!another()) asked(path, text, accepted);
    } catch (error) {
      if (another()) return;
      giveBack(draftKey, text);
      notice(draftKey, `${words.sendFailed} ${sentence(error)}`);
    } finally {
      const { [draftKey]: _, ...others } = outbox.get();
      outbox.set(others);
    }
  }

  const accent = /^#[0-9a-f]{6}$/i.test(surface.accent) ? ({ '--mark': surface.accent } as CSSProperties) : undefined;
  const vacant = turns.length === 0 && !outgoing;
  return (
    <SurfaceContext value={look ?? null}>
      <main className="chat" aria-label={words.chat}>
        <header className="surface-head" aria-label={said(surface.title, locale)}>
          <h2 className={accent && 'marked'} style={accent}>
            {said(surface.title, locale)}
          </h2>
          {!vacant && (
            <button type="button" className="button" disabled={active !== null} onClick={() => begin(path)}>
              <Icon name="plus" />
              {own.fresh}
            </button>
          )}
          <p>{said(surface.tagline, locale)}</p>
          <p className="kept" title={own.hereLong}>
            <span aria-hidden="true">{own.here}</span>
            <span className="hidden">{own.hereLong}</span>
          </p>
        </header>
        {!vacant && <Told surface={surface} />}
        {vacant ? (
          <div className="scroller">
            <div className="view" tabIndex={0} role="region" aria-label={words.chat}>
              <div className="column opening">
                <Told surface={surface} />
                <Empty bare start={(text) => void send(text)} />
              </div>
            </div>
          </div>
        ) : (
          <Scroller running={running} resetOn={outgoing?.text ?? ''}>
            {turns.map((turn) => {
              const run = runs.get(turn.key);
              const now = run !== undefined && run === active?.run;
              return <TurnView key={turn.key} turn={turn} follower={run ? followerOf(run) : undefined} active={now} edited={false} giveBack={(text) => giveBack(draftKey, text)} />;
            })}
            {outgoing && <UserWords text={outgoing.text} sending />}
          </Scroller>
        )}
        <div className="foot">
          {questions.length > 0 && <QuestionCard asked={questions} at={Math.min(at, questions.length - 1)} onNext={() => setAt((at + 1) % questions.length)} />}
          <Composer
            bare
            draftKey={draftKey}
            conversation={null}
            question={questions[Math.min(at, questions.length - 1)] ?? null}
            running={running}
            sending={outgoing !== undefined}
            onSend={(text) => void send(text)}
            onStop={() => (active ? stop(active.run, draftKey) : Promise.resolve())}
          />
          <Keyless />
        </div>
      </main>
    </SurfaceContext>
  );
}

/** The turns, without their runs: nothing is to be asked of these once they are over. */
function useTurns(messages: ReturnType<typeof keptOf>['messages']): Turn[] {
  return useMemo(
    () =>
      turnsOf(messages).map((turn) => {
        if (turn.runID) runs.set(turn.key, turn.runID);
        return { ...turn, runID: null };
      }),
    [messages],
  );
}

/** Reads the run that answers, also after a reload, and keeps its answer here. */
function useAnswer(path: string, active: ReturnType<typeof keptOf>['active'], live: typeof emptyRun): void {
  const run = active?.run;
  const conversation = active?.conversation;
  useEffect(() => {
    if (run && conversation && !followerOf(run)) followRun(run, conversation);
  }, [run, conversation]);
  useEffect(() => {
    if (!run || live === emptyRun) return;
    if (live.phase === 'done' || live.phase === 'failed' || live.phase === 'stopped') settled(path, run, live);
  }, [path, run, live]);
}

function Keyless() {
  const words = useWords();
  if (useUIConfig().data?.model.generative !== false) return null;
  return (
    <p className="keyless" role="note">
      {words.keyless}
    </p>
  );
}
