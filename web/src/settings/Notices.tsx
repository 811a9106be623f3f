import { useWords } from '../i18n/index.ts';
import { setSystemNotices, systemNotices } from '../lib/notify.ts';
import { useStore } from '../lib/store.ts';
import { Card } from '../operate/parts.tsx';

/** Whether the system says when something waits for the person. */
export function Notices() {
  const words = useWords();
  const state = useStore(systemNotices);
  const cannot = state === 'unsupported' || state === 'blocked';
  return (
    <Card title={words.settingsNotices}>
      <label className="switch">
        <input type="checkbox" checked={state === 'on'} disabled={cannot} onChange={(event) => void setSystemNotices(event.target.checked)} />
        <span>{words.noticesLabel}</span>
      </label>
      <p className="hint" role="status">
        {state === 'blocked' ? words.noticesBlocked : state === 'unsupported' ? words.noticesUnsupported : words.noticesMean}
      </p>
    </Card>
  );
}
