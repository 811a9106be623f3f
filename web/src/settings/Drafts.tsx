import { useState } from 'react';
import { draftsTouched } from '../chat/commands.ts';
import { useWords } from '../i18n/index.ts';
import { clearDrafts, draftCount, exportDrafts } from '../lib/drafts.ts';
import { download } from '../lib/download.ts';
import { useStore } from '../lib/store.ts';
import { Card } from '../operate/parts.tsx';
import { Confirm } from '../shell/Confirm.tsx';

/** The words of this browser that were not sent: how many, a copy of them, and none of them (UI-14, UI-15). */
export function Drafts() {
  const words = useWords();
  useStore(draftsTouched);
  const [asking, setAsking] = useState(false);
  const n = draftCount();
  return (
    <Card title={words.settingsDrafts}>
      <p role="status">{words.draftsKept(n)}</p>
      {n > 0 && (
        <div className="flex-row">
          <button type="button" onClick={() => download('liminal-drafts.json', 'application/json', exportDrafts())}>
            {words.draftsExport}
          </button>
          <button type="button" className="danger" onClick={() => setAsking(true)}>
            {words.draftsClear}
          </button>
        </div>
      )}
      {asking && (
        <Confirm
          text={words.draftsClearAsk(n)}
          act={words.draftsClear}
          onAct={() => {
            clearDrafts();
            draftsTouched.set(draftsTouched.get() + 1);
            setAsking(false);
          }}
          onCancel={() => setAsking(false)}
        />
      )}
    </Card>
  );
}
