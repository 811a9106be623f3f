import { useFileLimits } from '../api/queries.ts';
import { language, useWords } from '../i18n/index.ts';
import { fileSize } from '../lib/format.ts';
import { useStore } from '../lib/store.ts';
import { Card } from '../operate/parts.tsx';

/** What may be uploaded, as the server says it (API-13). */
export function Uploads() {
  const words = useWords();
  const locale = useStore(language);
  const limits = useFileLimits();
  return (
    <Card title={words.settingsUploads}>
      {limits.isPending && (
        <p role="status" className="hint">
          {words.factsLoading}
        </p>
      )}
      {limits.isError && (
        <p role="alert" className="problem">
          {words.factsFailed}
        </p>
      )}
      {limits.data && (
        <dl className="facts">
          <dt>{words.uploadsSize}</dt>
          <dd>{fileSize(limits.data.max_bytes, locale)}</dd>
          <dt>{words.uploadsKinds}</dt>
          <dd className="kinds">{limits.data.extensions.map((name) => `.${name.replace(/^\./, '')}`).join(' ')}</dd>
        </dl>
      )}
    </Card>
  );
}
