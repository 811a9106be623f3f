import { useState } from 'react';
import type { RolloutPlan } from '../api/changes.ts';
import { useWords } from '../i18n/index.ts';

const usualHours = 24;
const mostHours = 168;
const usualShare = 10;

/** How an applied version begins: for all new runs, or for a share of them first, and how long it is watched. */
export function TrialFields({ share }: { share: boolean }) {
  const words = useWords();
  const [part, setPart] = useState(false);
  return (
    <div className="trial">
      {share && (
        <fieldset>
          <legend>{words.trialChoice}</legend>
          <label>
            <input type="radio" name="trial" checked={!part} onChange={() => setPart(false)} /> {words.trialAll}
          </label>
          <label>
            <input type="radio" name="trial" checked={part} onChange={() => setPart(true)} /> {words.trialPart}
          </label>
        </fieldset>
      )}
      <div className="pair">
        {part && (
          <label className="field">
            <span>{words.trialShare}</span>
            <input name="share" type="number" min={1} max={99} step={1} defaultValue={usualShare} required />
          </label>
        )}
        <label className="field">
          <span>{words.trialHours}</span>
          <input name="hours" type="number" min={0} max={mostHours} step={1} defaultValue={usualHours} required />
        </label>
      </div>
      <label>
        <input type="checkbox" name="roll_back" defaultChecked /> {words.trialRollBack}
      </label>
    </div>
  );
}

/** What the fields say; a share of 0 is all new runs. */
export function trialOf(form: FormData): RolloutPlan {
  return {
    share: Number(form.get('share') ?? 0),
    hours: Number(form.get('hours') ?? usualHours),
    roll_back: form.get('roll_back') === 'on',
  };
}
