import { lazy, Suspense, useState } from 'react';
import { useWords } from '../i18n/index.ts';

const FeedbackPanel = lazy(() => import('./FeedbackPanel.tsx'));

/** A section beneath the box with all there is to say and to see of one answer, closed until it is asked for (UI-08). */
export function FeedbackSection({ conversation }: { conversation: string | null }) {
  const words = useWords();
  const [opened, setOpened] = useState(false);
  return (
    <details className="section" onToggle={(event) => setOpened(opened || event.currentTarget.open)}>
      <summary>{words.feedback}</summary>
      {opened && (
        <Suspense fallback={<p className="hint">{words.loadingPage}</p>}>
          <FeedbackPanel key={conversation ?? ''} conversation={conversation} />
        </Suspense>
      )}
    </details>
  );
}
