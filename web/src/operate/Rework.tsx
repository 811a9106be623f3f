import { useState } from 'react';
import { useLocation } from 'wouter';
import type { Change, Patch } from '../api/changes.ts';
import { session } from '../api/session.ts';
import type { PatchStatus } from '../api/types.ts';
import { readEdit, writeEdit } from '../artifacts/edits.ts';
import { print } from '../code/print.ts';
import { useWords } from '../i18n/index.ts';
import { useStore } from '../lib/store.ts';
import { ActDialog } from './parts.tsx';

/** How a proposal ends without its change. */
const fruitless: ReadonlySet<PatchStatus> = new Set(['invalid', 'rejected', 'expired', 'withdrawn']);

/** The change an editor can go on with: there is one, of something that is there. */
function workOf(patch: Patch): Change | null {
  const [change, ...others] = patch.changes;
  if (!fruitless.has(patch.status) || !change || others.length > 0 || change.creates) return null;
  return change.after === null || change.after === undefined ? null : change;
}

/** Takes what its proposer wrote back into the editor, to be changed and proposed again. */
export function Rework({ patch }: { patch: Patch }) {
  const words = useWords();
  const [, go] = useLocation();
  const { user } = useStore(session);
  const [asked, setAsked] = useState(false);
  const change = workOf(patch);
  if (!user || !change || patch.proposed_by?.id !== user.id) return null;
  const take = () => {
    writeEdit(user.id, change.artifact_id, { text: print(change.after), base: change.base_version, why: patch.justification });
    go(`/artifacts/${change.artifact_id}/edit`);
  };
  return (
    <div className="flex-row">
      <button type="button" onClick={() => (readEdit(user.id, change.artifact_id) ? setAsked(true) : take())}>
        {words.reworkIt}
      </button>
      {asked && (
        <ActDialog title={words.reworkIt} act={words.reworkIt} danger onClose={() => setAsked(false)} onAct={async () => take()}>
          <p>{words.reworkLost}</p>
        </ActDialog>
      )}
    </div>
  );
}
