import { useState } from 'react';
import { useAttempt } from '../account/useAttempt.ts';
import { useWords } from '../i18n/index.ts';
import { ActDialog, Card } from '../operate/parts.tsx';

interface Props {
  why: string;
  onWhy(next: string): void;
  ready: boolean; // there is something to propose, and it is JSON
  note: string; // how much there is
  /** Missing: it is not theirs to do. */
  onTry?: (() => Promise<void>) | undefined;
  onPropose?: (() => Promise<void>) | undefined;
  onSave?: { name: string; ask: string; do(): Promise<void> } | undefined;
  onReset(): void;
}

type Doing = '' | 'try' | 'propose';

/** Why, and then: rehearse, propose, save. */
export function Acts({ why, onWhy, ready, note, onTry, onPropose, onSave, onReset }: Props) {
  const words = useWords();
  const attempt = useAttempt();
  const [doing, setDoing] = useState<Doing>('');
  const [asked, setAsked] = useState<'' | 'save' | 'reset'>('');
  const open = attempt.rest > 0 || attempt.busy;
  const go = (name: Doing, work: () => Promise<void>) => {
    setDoing(name);
    void attempt.go(work);
  };
  return (
    <Card title={words.whyChange} note={note} className="propose">
      <label className="field">
        <span>{words.whyChangeHint}</span>
        <textarea value={why} rows={3} maxLength={4_000} onChange={(event) => onWhy(event.target.value)} aria-label={words.whyChange} />
      </label>
      {attempt.problem && (
        <p role="alert" className="problem">
          {attempt.problem}
        </p>
      )}
      <div className="flex-row">
        {onTry && (
          <button type="button" disabled={!ready || open} onClick={() => go('try', onTry)}>
            {attempt.busy && doing === 'try' ? words.actRehearsing : words.actRehearse}
          </button>
        )}
        {onPropose && (
          <button type="button" className="primary" disabled={!ready || open || why.trim() === ''} onClick={() => go('propose', onPropose)}>
            {words.actPropose}
          </button>
        )}
        {onSave && (
          <button type="button" disabled={!ready || open} onClick={() => setAsked('save')}>
            {onSave.name}
          </button>
        )}
        <button type="button" className="quiet" onClick={() => setAsked('reset')}>
          {words.editorReset}
        </button>
      </div>
      {ready && onPropose && why.trim() === '' && <p className="hint">{words.whyNeeded}</p>}
      {asked === 'save' && onSave && (
        <ActDialog title={onSave.name} act={words.save} onClose={() => setAsked('')} onAct={onSave.do}>
          <p>{onSave.ask}</p>
        </ActDialog>
      )}
      {asked === 'reset' && (
        <ActDialog
          title={words.editorReset}
          act={words.editorReset}
          danger
          onClose={() => setAsked('')}
          onAct={async () => {
            setAsked('');
            onReset();
          }}
        >
          <p>{words.editorResetAsk}</p>
        </ActDialog>
      )}
    </Card>
  );
}
