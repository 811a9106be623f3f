import { useState } from 'react';
import { rehearse, type Change, type Patch, type Unknowns } from '../api/changes.ts';
import { Failure } from '../api/failure.ts';
import { useWords } from '../i18n/index.ts';
import { ActDialog, Card } from './parts.tsx';
import { Rehearsal } from './Rehearsal.tsx';

/** The rehearsal of each change of a patch, and the wish for another one. */
export function RehearsalCard({ patch }: { patch: Patch }) {
  const words = useWords();
  const [asked, setAsked] = useState(false);
  const reported = patch.changes.filter((change) => change.report);
  const first = reported[0]?.report;
  return (
    <Card
      title={words.rehearsal}
      note={reported.length === 1 && first && first.sample.taken > 0 ? words.rehearsalOf(first.sample.taken, first.sample.population) : undefined}
      className="rehearsals"
    >
      {reported.length === 0 && <p className="hint">{missing(patch, words)}</p>}
      {reported.map((change) => (
        <One key={change.artifact_id} change={change} named={reported.length > 1} />
      ))}
      {patch.may?.rehearse?.ok && !isNew(patch) && (
        <button type="button" className="quiet" onClick={() => setAsked(true)}>
          {words.rehearseAgain}
        </button>
      )}
      {asked && <Again patch={patch} onClose={() => setAsked(false)} />}
    </Card>
  );
}

/** Whether everything in a patch is yet to be: nothing has run on it. */
function isNew(patch: Patch): boolean {
  return patch.changes.every((change) => change.creates);
}

function missing(patch: Patch, words: ReturnType<typeof useWords>): string {
  if (patch.stage === 'rehearsing') return words.rehearsing;
  if (patch.status === 'invalid') return words.neverRehearsed;
  if (patch.stage === 'checking') return words.noRehearsal;
  return isNew(patch) ? words.newRehearsal : words.noRehearsalKind;
}

function One({ change, named }: { change: Change; named: boolean }) {
  return (
    <>
      {named && <h3 className="of">{change.name}</h3>}
      <Rehearsal report={change.report!} />
    </>
  );
}

const usualSample = 200;
const mostSample = 5_000;

function Again({ patch, onClose }: { patch: Patch; onClose(): void }) {
  const words = useWords();
  const [unknown, setUnknown] = useState<Unknowns>(patch.unknown || 'unknown');
  const wanted = patch.changes.find((change) => change.report)?.report?.sample.wanted ?? usualSample;
  return (
    <ActDialog
      title={words.rehearseAgain}
      act={words.rehearseGo}
      onClose={onClose}
      onAct={async (form) => {
        await rehearse(patch.id, Number(form.get('sample')), unknown, unknown === 'scripted' ? table(String(form.get('script')), words.scriptBroken) : undefined);
        onClose();
      }}
    >
      <label className="field">
        <span>{words.sampleSize}</span>
        <input name="sample" type="number" min={1} max={mostSample} defaultValue={wanted || usualSample} required />
      </label>
      <label className="field">
        <span>{words.unknownChoice}</span>
        <select value={unknown} onChange={(event) => setUnknown(event.target.value as Unknowns)}>
          <option value="unknown">{words.unknownStop}</option>
          <option value="live">{words.unknownLive}</option>
          <option value="scripted">{words.unknownScripted}</option>
        </select>
      </label>
      {unknown === 'scripted' && (
        <label className="field">
          <span>{words.scriptLabel}</span>
          <textarea name="script" className="monospace" rows={5} defaultValue="{}" spellCheck={false} />
        </label>
      )}
    </ActDialog>
  );
}

function table(text: string, broken: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (value && typeof value === 'object' && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // Said below.
  }
  throw new Failure(400, 'validation_error', broken);
}
