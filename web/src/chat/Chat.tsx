import { useCallback, useEffect, useMemo, useRef, useState, type ReactNode } from 'react';
import { Link } from 'wouter';
import { Failure } from '../api/failure.ts';
import { useConversations, useUIConfig } from '../api/queries.ts';
import type { Conversation } from '../api/types.ts';
import { sentence } from '../i18n/errors.ts';
import { useWords } from '../i18n/index.ts';
import { FeedbackSection } from '../feedback/FeedbackSection.tsx';
import { backendOf, chosenBackend } from '../knowledge/choice.ts';
import { DropTarget } from '../knowledge/DropZone.tsx';
import { SurfaceContext, useSurface } from '../knowledge/surface.ts';
import { UploadKnowledge } from '../knowledge/UploadKnowledge.tsx';
import { useStore } from '../lib/store.ts';
import { Icon } from '../shell/Icon.tsx';
import { ChangeContext, edit } from './change.ts';
import { Composer } from './Composer.tsx';
import { useConversation } from './conversation.ts';
import { Empty } from './Empty.tsx';
import { Scroller } from './Scroller.tsx';
import { QuestionCard } from './QuestionCard.tsx';
import { SurfaceHead } from './SurfaceHead.tsx';
import { giveBack } from './commands.ts';
import { Turns } from './Turns.tsx';
import { UserWords } from './TurnView.tsx';

interface Props {
  id: string | null;
  conversation: Conversation | null;
  /** Where the words of a conversation to come are kept; those of any, where nothing is said. */
  draft?: string;
  /** What stands below the head. */
  above?: ReactNode;
}

/** One conversation: its turns, the question that is open, and the box to write in. */
export function Chat({ id, conversation, draft, above }: Props) {
  const words = useWords();
  const { draftKey, thread, turns, asked, running, outgoing, change, submit, halt } = useConversation(id, conversation, draft);
  const surface = useSurface(draftKey, conversation?.workflow_id);
  const [shown, setShown] = useState(0); // which of several open questions
  const at = Math.min(shown, Math.max(0, asked.length - 1));
  const missing = thread.error instanceof Failure && thread.error.status === 404;
  const earlier = thread.data?.earlier_cursor ?? null;
  const held = useMemo(() => ({ turns, earlier }), [turns, earlier]);
  const from = conversation?.branched_from?.conversation_id;
  const origin = useMemo(() => from && <BranchedFrom from={from} />, [from]);
  const vacant = !outgoing && (id === null || (thread.data !== undefined && turns.length === 0 && !earlier));
  const back = useCallback((text: string, doc?: unknown) => giveBack(draftKey, text, doc), [draftKey]);
  const last = turns.findLast((turn) => turn.user)?.user;
  const editLast = () => {
    if (id && last && change?.lock === null) edit(id, last.id);
  };
  useFocusBack(asked.length > 0);
  return (
    <DropTarget draftKey={draftKey} conversation={conversation}>
      <SurfaceContext value={surface}>
        <main className="chat" aria-label={words.chat}>
          {surface && <SurfaceHead surface={surface} draftKey={draftKey} kept={conversation?.workflow_id} />}
          {above}
          <Scroller running={running} resetOn={outgoing?.text ?? ''}>
            {id && thread.isPending && <Skeleton />}
            {thread.isError && <LoadProblem error={thread.error} missing={missing} retry={() => void thread.refetch()} />}
            {vacant && <Empty start={submit} />}
            {id && (
              <ChangeContext value={change}>
                <Turns conversation={id} held={held} origin={origin} active={thread.data?.active_run?.id ?? null} giveBack={back} />
              </ChangeContext>
            )}
            {outgoing && <UserWords text={outgoing.text} doc={outgoing.doc} sending />}
          </Scroller>
          <div className="foot">
            {asked.length > 0 && <QuestionCard asked={asked} at={at} onNext={() => setShown((at + 1) % asked.length)} />}
            {!missing && (
              <Composer
                key={draftKey}
                draftKey={draftKey}
                conversation={conversation}
                question={asked[at] ?? null}
                running={running}
                sending={outgoing !== undefined}
                onSend={submit}
                onStop={halt}
                onEditLast={editLast}
              />
            )}
            {!missing && (
              <div className="sections">
                <UploadKnowledge draftKey={draftKey} conversation={conversation} />
                <FeedbackSection conversation={id} />
              </div>
            )}
            <Keyless draftKey={draftKey} conversation={conversation} />
          </div>
        </main>
      </SurfaceContext>
    </DropTarget>
  );
}

/** Says plainly that nothing is generated, where no model is configured and no backend that has one was chosen. */
function Keyless({ draftKey, conversation }: { draftKey: string; conversation: Conversation | null }) {
  const words = useWords();
  const backend = backendOf(useStore(chosenBackend), draftKey, conversation);
  const quotes = useUIConfig().data?.model.generative === false;
  if (!quotes || (backend !== '' && backend !== 'environment')) return null;
  return (
    <p className="keyless" role="note">
      {words.keyless}
    </p>
  );
}

/** Once the last question is settled its buttons are gone: the focus goes on to the box. */
function useFocusBack(asking: boolean) {
  const was = useRef(asking);
  useEffect(() => {
    if (was.current && !asking && matchMedia('(pointer: fine)').matches) document.getElementById('message')?.focus();
    was.current = asking;
  }, [asking]);
}

/** The shape of what is coming: words of one's own, and an answer. */
function Skeleton() {
  const words = useWords();
  return (
    <div className="skeleton" role="status">
      <span className="hidden">{words.loadingThread}</span>
      {[0, 1].map((turn) => (
        <div key={turn} aria-hidden="true">
          <i className="mine" />
          <i />
          <i />
          <i />
        </div>
      ))}
    </div>
  );
}

/** Where a conversation that was branched off comes from. */
function BranchedFrom({ from }: { from: string }) {
  const words = useWords();
  const known = useConversations().data?.pages.flatMap((page) => page.data);
  return (
    <p className="branched-from">
      <Icon name="fork" />
      <span>
        {words.branchedFrom} <Link href={`/c/${from}`}>{known?.find((one) => one.id === from)?.title || words.anotherConversation}</Link>
      </span>
    </p>
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
