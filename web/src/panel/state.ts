import { createStore } from '../lib/store.ts';
import type { Citation } from '../api/types.ts';

export type PanelState = { kind: 'passage'; citations: Citation[]; n: number } | null;

/** What is open beside the conversation. */
export const panel = createStore<PanelState>(null);
