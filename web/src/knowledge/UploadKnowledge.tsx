import { lazy, Suspense, useState } from 'react';
import type { Conversation } from '../api/types.ts';
import { useWords } from '../i18n/index.ts';

const UploadForm = lazy(() => import('./ChatUpload.tsx'));

/** A section beneath the box that takes files into a context, closed until it is asked for (UI-08). */
export function UploadKnowledge({ draftKey, conversation }: { draftKey: string; conversation: Conversation | null }) {
  const words = useWords();
  const [opened, setOpened] = useState(false);
  return (
    <details className="section" onToggle={(event) => setOpened(opened || event.currentTarget.open)}>
      <summary>{words.knowledge}</summary>
      {opened && (
        <Suspense fallback={<p className="hint">{words.loadingPage}</p>}>
          <UploadForm draftKey={draftKey} conversation={conversation} />
        </Suspense>
      )}
    </details>
  );
}
