import { useState } from 'react';
import { forgetLearnt, useClusters, type Learning } from '../api/learning.ts';
import { queryClient } from '../api/queries.ts';
import { forgetFeedback } from '../feedback/state.ts';
import { ActDialog, Card } from '../operate/parts.tsx';
import { useLearningWords } from './words.ts';

/** The way to be as somebody who never said anything of an answer. */
export function ForgetAll({ learning, say }: { learning: Learning; say(text: string): void }) {
  const words = useLearningWords();
  const [asking, setAsking] = useState(false);
  const situations = useClusters('mine').data?.length ?? 0;
  return (
    <Card title={words.forgetAll}>
      <p className="hint">{words.forgetAllMeans}</p>
      <div>
        <button type="button" className="danger" onClick={() => setAsking(true)}>
          {words.forgetAll}
        </button>
      </div>
      {asking && (
        <ActDialog
          title={words.forgetAllTitle}
          act={words.forgetAll}
          danger
          onClose={() => setAsking(false)}
          onAct={async () => {
            const { events } = await forgetLearnt();
            forgetFeedback(); // the thumbs under answers
            void queryClient.invalidateQueries({ queryKey: ['thread'] });
            setAsking(false);
            say(words.forgotAll(events));
          }}
        >
          <p>{words.forgetAllGoes}</p>
          <ul className="goes">
            {words.goes(learning, situations).map((one) => (
              <li key={one}>{one}</li>
            ))}
          </ul>
          <p>{words.stays}</p>
        </ActDialog>
      )}
    </Card>
  );
}
