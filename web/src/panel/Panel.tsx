import { lazy, Suspense } from 'react';
import { useStore } from '../lib/store.ts';
import { panel } from './state.ts';

const PassagePanel = lazy(async () => ({ default: (await import('./PassagePanel.tsx')).PassagePanel })); // asked for by a click
const DocumentPanel = lazy(() => import('./DocumentPanel.tsx')); // opened from the contexts only

/** The sheet beside the conversation: the passage a citation stands for, or a whole document. */
export function Panel() {
  const open = useStore(panel);
  return (
    <Suspense>
      {open?.kind === 'document' ? <DocumentPanel key={open.document.id} document={open.document} /> : open && <PassagePanel citations={open.citations} n={open.n} />}
    </Suspense>
  );
}
