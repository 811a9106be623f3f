import { createStore } from '../lib/store.ts';
import type { Citation, Document } from '../api/types.ts';

/** A document as far as it takes to open it. */
export type Opened = Pick<Document, 'id' | 'title' | 'path' | 'superseded_at'>;

export type PanelState = { kind: 'passage'; citations: Citation[]; n: number } | { kind: 'document'; document: Opened } | null;

/** What is open beside the conversation. */
export const panel = createStore<PanelState>(null);
