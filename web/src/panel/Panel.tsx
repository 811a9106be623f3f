import { lazy, Suspense } from 'react';
import { useStore } from '../lib/store.ts';
import { PassagePanel } from './PassagePanel.tsx';
import { panel } from './state.ts';

const DocumentPanel = lazy(() => import('./DocumentPanel.tsx')); // opened from the contexts only

/** The sheet beside the conversation: the passage a citation stands for, or a whole document. */
export function Panel() {
  const open = useStore(panel);
  if (open?.kind === 'document') {
    return (
      <Suspense>
        <DocumentPanel key={open.document.id} document={open.document} />
      </Suspense>
    );
  }
  return open && <PassagePanel citations={open.citations} n={open.n} />;
}
