import { useState } from 'react';
import { useAttempt } from '../account/useAttempt.ts';
import { changeLearning, type LearningSettings } from '../api/learning.ts';
import { Card } from '../operate/parts.tsx';
import { useLearningWords } from './words.ts';

/** What a person allows to be learnt. */
export function Choices({ settings }: { settings: LearningSettings }) {
  const words = useLearningWords();
  const attempt = useAttempt();
  const [wanted, setWanted] = useState<Partial<LearningSettings>>({}); // until the server has it
  const shown = { ...settings, ...wanted };
  const choices = [
    ['personal', words.personal, words.personalMeans],
    ['by_rule', words.byRuleMay, words.byRuleMeans],
    ['shared', words.shared, words.sharedMeans],
  ] as const;
  return (
    <Card title={words.allowed}>
      {choices.map(([name, label, means]) => (
        <div key={name} className="choice-with">
          <label className="switch">
            <input
              type="checkbox"
              checked={shown[name]}
              disabled={attempt.busy}
              aria-describedby={`choice-${name}`}
              onChange={(event) => {
                const change = { [name]: event.target.checked };
                setWanted(change);
                void attempt.go(() => changeLearning(change)).finally(() => setWanted({}));
              }}
            />
            <span>{label}</span>
          </label>
          <p id={`choice-${name}`} className="hint">
            {means}
          </p>
        </div>
      ))}
      {attempt.problem && (
        <p role="alert" className="problem">
          {attempt.problem}
        </p>
      )}
    </Card>
  );
}
