import { useEffect, useId } from 'react';
import { Link } from 'wouter';
import { useAttempt } from '../account/useAttempt.ts';
import { changeKeys, rollBack } from '../api/changes.ts';
import { learningKeys, useClusters, type Learning, type LearnedAdapter } from '../api/learning.ts';
import { queryClient } from '../api/queries.ts';
import { Card } from '../operate/parts.tsx';
import { LessonRow } from './LessonRow.tsx';
import { groupsOf, learns, type Group } from './standing.ts';
import { OnTrial } from './OnTrial.tsx';
import { useLearningWords } from './words.ts';

interface Props {
  learning: Learning;
  say(text: string): void;
}

/** What was learnt, sentence by sentence. */
export function Lessons({ learning, say }: Props) {
  const words = useLearningWords();
  const groups = groupsOf(learning);
  useComingTo();
  return (
    <Card title={words.learnt} note={learning.lessons.length || undefined} className="lessons">
      {groups.length === 0 && <Empty learning={learning} />}
      {groups.map((group) => (
        <GroupPart key={group.cluster} group={group} learning={learning} say={say} />
      ))}
    </Card>
  );
}

/** Who comes from below an answer comes to the lesson it followed. */
function useComingTo(): void {
  useEffect(() => {
    const id = location.hash.slice(1);
    const row = id ? document.getElementById(id) : null;
    row?.scrollIntoView({ block: 'center' });
    row?.querySelector<HTMLElement>('input')?.focus({ preventScroll: true });
  }, []);
}

/** What to do so that something is learnt. */
function Empty({ learning }: { learning: Learning }) {
  const words = useLearningWords();
  return (
    <div className="learning-empty">
      <p className="nothing">{words.emptyTitle}</p>
      {learning.waiting > 0 ? (
        <p>{words.emptyWaits}</p>
      ) : (
        <>
          <ol>
            {words.emptySteps.map((step) => (
              <li key={step}>{step}</li>
            ))}
          </ol>
          <p>
            <Link href="/">{words.toChat}</Link>
          </p>
        </>
      )}
    </div>
  );
}

function GroupPart({ group, learning, say }: { group: Group } & Props) {
  const words = useLearningWords();
  const id = useId();
  const clusters = useClusters('mine').data ?? [];
  const label = clusters.find((one) => one.id === group.cluster)?.label || words.unnamed;
  const title = group.cluster ? words.inSituation(label) : words.allAnswers;
  return (
    <section className="lesson-group" aria-labelledby={id}>
      <h3 id={id}>{title}</h3>
      <ul>
        {group.lessons.map((lesson) => (
          <LessonRow key={lesson.id} lesson={lesson} adapter={group.adapter} learning={learning} say={say} />
        ))}
      </ul>
      {group.adapter?.patch && <Change patch={group.adapter.patch} where={title} learning={learning} say={say} />}
    </section>
  );
}

interface ChangeProps extends Props {
  patch: NonNullable<LearnedAdapter['patch']>;
  where: string;
}

/** How these came to be followed: by rule or by the person's decision, and the way back. */
function Change({ patch, where, learning, say }: ChangeProps) {
  const words = useLearningWords();
  const attempt = useAttempt();
  const page = `/operate/patches/${patch.id}`;

  async function undo() {
    const done = await attempt.go(async () => {
      await rollBack(patch.id, words.undoReason);
      await queryClient.invalidateQueries({ queryKey: learningKeys.all });
      void queryClient.invalidateQueries({ queryKey: changeKeys.all });
    });
    if (done) say(words.undone);
  }

  return (
    <div className="lesson-change" data-state={patch.may_decide ? 'wait' : undefined}>
      {patch.may_decide && (
        <p>
          <span className="dot wait" aria-hidden="true" /> {words.waitsForYou} {patch.gate && `${words.gate(patch.gate)} `}
          <Link href={page}>{words.decide}</Link>
        </p>
      )}
      {!patch.may_decide && (
        <p>
          {words.change(patch.status, patch.by_rule)} {patch.status === 'applied' && patch.gate && `${words.gate(patch.gate)} `}
          <Link href={page}>{words.details}</Link>
        </p>
      )}
      {patch.trial && <OnTrial patch={patch.id} trial={patch.trial} brief say={say} />}
      {patch.may_roll_back && learns(learning) && (
        <button type="button" disabled={attempt.busy} aria-label={words.undoThis(where)} onClick={() => void undo()}>
          {words.undo}
        </button>
      )}
      {attempt.problem && (
        <p role="alert" className="problem">
          {attempt.problem}
        </p>
      )}
    </div>
  );
}
