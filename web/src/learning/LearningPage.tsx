import './learning.css';
import { useEffect, useRef, useState } from 'react';
import { useClusters, useLearning, type LearnedAdapter, type Learning } from '../api/learning.ts';
import { sentence } from '../i18n/errors.ts';
import { useWords } from '../i18n/index.ts';
import { regain } from '../contexts/parts.tsx';
import { Loading } from '../operate/parts.tsx';
import { Adapters } from './Adapters.tsx';
import { Choices } from './Choices.tsx';
import { ForgetAll } from './ForgetAll.tsx';
import { LearnNow } from './LearnNow.tsx';
import { Lessons } from './Lessons.tsx';
import { Situations } from './Situations.tsx';
import { Trainings } from './Trainings.tsx';
import { useLearningWords } from './words.ts';

/** Learning: what was learnt from what a person says of answers, and what they allow of it. */
export default function LearningPage() {
  const shell = useWords();
  const words = useLearningWords();
  const learning = useLearning();
  useEffect(() => {
    document.title = `${shell.learning} · Liminal`;
  }, [shell]);
  return (
    <div className="learning">
      <p className="lead">{words.lead}</p>
      {learning.isError && (
        <div className="load-problem">
          <p role="alert" className="problem">
            {words.loadFailed} {sentence(learning.error)}
          </p>
          <button type="button" onClick={() => void learning.refetch()}>
            {shell.tryAgain}
          </button>
        </div>
      )}
      {learning.isPending && <Loading />}
      {learning.data && <Whole learning={learning.data} />}
    </div>
  );
}

function Whole({ learning }: { learning: Learning }) {
  const words = useLearningWords();
  const [said, setSaid] = useState('');
  const place = useRef<HTMLParagraphElement>(null);
  const why = learning.mode === 'off' ? words.off : learning.settings.personal ? '' : words.paused;

  const clusters = useClusters('mine').data ?? [];

  /** What an adapter is for, in words. */
  function nameOf(adapter: LearnedAdapter | undefined): string {
    if (!adapter?.cluster_id) return words.allAnswers;
    return words.inSituation(clusters.find((one) => one.id === adapter.cluster_id)?.label || words.unnamed);
  }

  /** Tells what an act led to. Where what was pressed has gone with it, the focus comes here. */
  function say(text: string) {
    setSaid(text);
    requestAnimationFrame(() => regain(place.current));
  }

  return (
    <>
      {why && <p className="learning-off panel">{why}</p>}
      <LearnNow learning={learning} />
      <p ref={place} className="learning-said" role="status" tabIndex={-1}>
        {said}
      </p>
      <div className="sides">
        <div className="stack">
          <Lessons learning={learning} say={say} />
          <Situations say={say} />
          <Adapters learning={learning} say={say} />
          {learning.mode === 'full' && <Trainings adapters={learning.adapters} nameOf={nameOf} say={say} />}
        </div>
        <div className="stack">
          <Choices settings={learning.settings} />
          <ForgetAll learning={learning} say={say} />
        </div>
      </div>
    </>
  );
}
