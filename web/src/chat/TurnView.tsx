import { lazy, memo, Suspense, useCallback, useMemo, useRef } from 'react';
import { useLocation } from 'wouter';
import { useRun } from '../api/queries.ts';
import type { Citation } from '../api/types.ts';
import { MentionText } from '../composer/MentionText.tsx';
import { Noted } from '../feedback/Noted.tsx';
import { useWords } from '../i18n/index.ts';
import { useStore } from '../lib/store.ts';
import { Markdown } from '../markdown/Markdown.tsx';
import { panel } from '../panel/state.ts';
import { WordsActions } from './Actions.tsx';
import type { Follower } from './follower.ts';
import { Failed, Live } from './Live.tsx';
import { usePast } from './past.ts';
import { AskedLine, EvidenceLine, StepsLine } from './Rail.tsx';
import { emptyRun, stepsOf, type RailItem, type RunState } from './run.ts';
import { Sources } from './Sources.tsx';
import { Chips } from './Chips.tsx';
import { answers } from './commands.ts';
import { chipsOf, leads } from './chips.ts';
import { answerWords, evidenceOf, removedFrom, type Turn } from './thread.ts';
import { TurnFoot } from './TurnFoot.tsx';
import { useLive } from './useLive.ts';
import { useSeen } from './useSeen.ts';

const Editor = lazy(async () => ({ default: (await import('./Editor.tsx')).Editor })); // asked for by a click

interface Props {
  turn: Turn;
  follower: Follower | undefined;
  active: boolean; // its run is not over yet
  edited: boolean; // its words are being changed
  giveBack(text: string, doc?: unknown): void;
}

const noCitations: Citation[] = [];
const none: RailItem[] = [];

/** One turn: a person's words, and on the rail everything that came of them. */
export const TurnView = memo(function TurnView({ turn, follower, active, edited, giveBack }: Props) {
  const words = useWords();
  const article = useRef<HTMLElement>(null);
  const seen = useSeen(article);
  const { state, trouble } = useLive(follower);
  const live = liveOf(turn, state);
  const stored = useMemo(() => evidenceOf(turn.answer), [turn.answer]);
  const text = live ? live.text || (turn.answer?.content ?? '') : (turn.answer?.content ?? '');
  const suppressed = live?.done?.suppressed === true;
  const fromStore = turn.answer?.content_struct?.citations;
  const citations = live?.done?.citations ?? fromStore ?? noCitations;
  const segments = live?.done?.segments ?? turn.answer?.content_struct?.segments;
  const removed = useMemo(() => removedFrom(segments), [segments]);
  const chips = useMemo(() => (live ? live.chips : chipsOf(segments)), [live, segments]);
  const [, go] = useLocation();
  const open = useCallback(
    (citation: Citation) => {
      if (!citation.record) panel.set({ kind: 'passage', citations: citations.filter((one) => !one.record), n: citation.n });
      else if (citation.record.href.startsWith('https://')) window.open(citation.record.href, '_blank', 'noopener');
      else if (leads(citation.record.href)) go(citation.record.href);
    },
    [citations, go],
  );
  const items: RailItem[] = live ? live.items : stored;
  const past = usePast(turn.runID, live ? items : none, seen);
  const steps = [...past, ...stepsOf(items)];
  const over = !live || live.phase === 'done' || live.phase === 'failed' || live.phase === 'stopped';

  return (
    <article ref={article} className="turn" aria-label={turn.user ? words.youSaid(turn.user.content) : words.liminal}>
      {turn.user && (
          <Suspense fallback={<UserWords text={turn.user.content} doc={turn.user.meta?.['tiptap_json']} />}>
            {edited ? <Editor key={turn.user.id} message={turn.user} /> : <UserWords text={turn.user.content} doc={turn.user.meta?.['tiptap_json']} />}
          </Suspense>
        )}
      {!edited && <WordsActions turn={turn} />}
      {turn.user && <Noted message={turn.user} heeded={live?.done?.heeded === true} />}
      {(live || turn.answer || turn.asked.length > 0) && (
        <div className="rail">
          <h2 className="hidden">{words.liminal}</h2>
          {live && (steps.length > 0 || live.phase !== 'waiting') && <StepsLine steps={steps} over={over || text !== '' || live.phase === 'waiting'} />}
          {items.map((item) => (
            <Item key={item.key} item={item} />
          ))}
          {!live && turn.asked.map((asked) => <AskedLine key={asked.key} question={asked.question} answer={asked.answer} chosen={asked.chosen} />)}
          {text !== '' && !suppressed && (
            <div className="node answer" data-state={live?.phase === 'working' ? 'live' : 'settled'}>
              <div className="prose" aria-busy={live?.phase === 'working'}>
                <Markdown text={text} citations={over ? citations : noCitations} removed={removed} open={open} />
              </div>
              <Chips chips={chips} />
              {over && citations.length > 0 && <Sources citations={citations} quoting={removed.length === 0} open={open} />}
            </div>
          )}
          {live && <Live state={live} trouble={trouble} user={turn.user?.content ?? ''} giveBack={(said) => giveBack(said, turn.user?.meta?.['tiptap_json'])} />}
          {!live && turn.answer?.meta?.cancelled && <p className="node note-line">{words.stopped}</p>}
          {!live && turn.answer?.meta?.truncated && <p className="node note-line">{words.truncated}</p>}
          {over && <TurnFoot turn={turn} live={live} seen={seen} text={suppressed ? '' : text} items={items} />}
        </div>
      )}
      {!live && !active && !turn.answer && turn.asked.length === 0 && <Unanswered turn={turn} seen={seen} giveBack={giveBack} />}
    </article>
  );
});

/** The run as this page reads it, unless the store knows better how it ended. */
function liveOf(turn: Turn, state: RunState): RunState | null {
  if (state === emptyRun) return null;
  const open = state.phase === 'working' || state.phase === 'waiting';
  return open && turn.answer ? null : state;
}

function Item({ item }: { item: RailItem }) {
  const given = useStore(answers);
  if (item.kind === 'tool') return <EvidenceLine evidence={item} />;
  if (item.kind === 'step') return null; // the line of dots shows the steps
  const answered = item.key in given;
  if (!answered && !item.settled) return null; // the slip asks
  const value = answered ? given[item.key]! : undefined;
  return (
    <AskedLine
      question={item.interrupt.message}
      answer={value === undefined ? undefined : answerWords(item.interrupt, value)}
      chosen={(item.interrupt.options?.length ?? 0) > 0}
    />
  );
}

/** A turn that left no answer: its run knows why. */
function Unanswered({ turn, seen, giveBack }: { turn: Turn; seen: boolean; giveBack(text: string, doc?: unknown): void }) {
  const words = useWords();
  const run = useRun(turn.runID, seen).data;
  if (run?.status !== 'failed' && run?.status !== 'cancelled') return null;
  return (
    <div className="rail">
      <h2 className="hidden">{words.liminal}</h2>
      {run.status === 'failed' && <Failed problem={run.error} at={run.ended_at ?? run.created_at} user={turn.user?.content ?? ''} giveBack={(said) => giveBack(said, turn.user?.meta?.['tiptap_json'])} />}
      {run.status === 'cancelled' && <p className="node note-line">{words.stopped}</p>}
      <TurnFoot turn={turn} live={null} seen={seen} text="" items={[]} />
    </div>
  );
}

/** A person's words; dimmed until the server has them. */
export function UserWords({ text, doc, sending }: { text: string; doc?: unknown; sending?: boolean }) {
  return (
    <div className="said" data-sending={sending || undefined}>
      <MentionText text={text} doc={doc} />
    </div>
  );
}
