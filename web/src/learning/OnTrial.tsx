import { useAttempt } from '../account/useAttempt.ts';
import { changeKeys, promote } from '../api/changes.ts';
import { learningKeys, type AdapterTrial } from '../api/learning.ts';
import { queryClient } from '../api/queries.ts';
import { language } from '../i18n/index.ts';
import { moment } from '../lib/format.ts';
import { useStore } from '../lib/store.ts';
import { Ago } from '../operate/parts.tsx';
import { useLearningWords } from './words.ts';

interface Props {
  patch: number;
  trial: AdapterTrial;
  brief?: boolean; // what was seen is told elsewhere
  say(text: string): void;
}

/** A version that some of a person's conversations take: how it goes, and the way to have it everywhere. */
export function OnTrial({ patch, trial, brief, say }: Props) {
  const words = useLearningWords();
  const attempt = useAttempt();

  async function everywhere() {
    const done = await attempt.go(async () => {
      await promote(patch);
      await queryClient.invalidateQueries({ queryKey: learningKeys.all });
      void queryClient.invalidateQueries({ queryKey: changeKeys.all });
    });
    if (done) say(words.usedEverywhere);
  }

  return (
    <div className="on-trial">
      <p>{words.onTrial(trial.share)}</p>
      {!brief && <Seen trial={trial} />}
      <button type="button" disabled={attempt.busy} onClick={() => void everywhere()}>
        {words.useEverywhere}
      </button>
      {attempt.problem && (
        <p role="alert" className="problem">
          {attempt.problem}
        </p>
      )}
    </div>
  );
}

/** Since when it is tried, and what was seen of it. */
function Seen({ trial }: { trial: AdapterTrial }) {
  const words = useLearningWords();
  const locale = useStore(language);
  const rated = trial.disliked.before.high < 1 || trial.disliked.after.high < 1; // of nothing, anything may be true
  return (
    <>
      <dl>
        <div>
          <dt>{words.trialSince}</dt>
          <dd>
            <Ago time={trial.since} />
          </dd>
        </div>
        <div>
          <dt>{words.trialUntil}</dt>
          <dd>{moment(Date.parse(trial.until), locale)}</dd>
        </div>
        <div>
          <dt>{words.trialAnswers}</dt>
          <dd>
            {trial.runs.before} {words.trialBefore}, {trial.runs.after} {words.trialAfter}
          </dd>
        </div>
        {rated && (
          <div>
            <dt>{words.trialDown}</dt>
            <dd>
              {words.share(trial.disliked.before.value)} {words.trialBefore}, {words.share(trial.disliked.after.value)} {words.trialAfter}
            </dd>
          </div>
        )}
      </dl>
      {trial.rules.length > 0 && (
        <p className="hint" title={trial.rules.join('\n')}>
          {words.trialRule}
        </p>
      )}
    </>
  );
}
