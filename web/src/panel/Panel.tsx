import { useStore } from '../lib/store.ts';
import { PassagePanel } from './PassagePanel.tsx';
import { panel } from './state.ts';

/** The sheet beside the conversation: the passage a citation stands for. */
export function Panel() {
  const open = useStore(panel);
  return open && <PassagePanel citations={open.citations} n={open.n} />;
}
