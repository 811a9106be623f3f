import { useEffect, useState, type ReactNode } from 'react';
import type { Conversation } from '../api/types.ts';
import { useWords } from '../i18n/index.ts';
import { createStore, useStore } from '../lib/store.ts';
import { chosenContext, contextOf } from './choice.ts';
import { gather } from './found.ts';
import { addGathered } from './uploads.ts';

/** The context that dropped files go to, as what is on the page says; '' is the person's own "My documents". */
const dropTarget = createStore('');

/** While this is on the page, dropped files go to a context. */
export function useDropTarget(contextID: string): void {
  useEffect(() => {
    dropTarget.set(contextID);
    return () => dropTarget.set('');
  }, [contextID]);
}

interface TargetProps {
  draftKey: string;
  conversation: Conversation | null;
  children: ReactNode;
}

/** While a conversation is on the page, dropped files go to the context it uses. */
export function DropTarget({ draftKey, conversation, children }: TargetProps) {
  useDropTarget(contextOf(useStore(chosenContext), draftKey, conversation));
  return children;
}

/** The whole window takes files and folders that are dropped on it, whatever is beneath. */
export function DropZone() {
  const words = useWords();
  const [over, setOver] = useState(false);
  useEffect(() => listen(setOver), []);
  if (!over) return null;
  return (
    <div className="drop-here">
      <p>{words.dropHere}</p>
    </div>
  );
}

/**
 * Before anything beneath hears of it: an editor would paste the names, and what
 * nobody takes the browser opens, in the place of this page.
 */
function listen(setOver: (over: boolean) => void): () => void {
  const listening = new AbortController();
  const on = (kind: 'dragenter' | 'dragover' | 'dragleave' | 'drop', act: (event: DragEvent, transfer: DataTransfer) => void) =>
    window.addEventListener(
      kind,
      (event) => {
        if (!event.dataTransfer?.types.includes('Files')) return;
        event.preventDefault();
        event.stopPropagation();
        act(event, event.dataTransfer);
      },
      { capture: true, signal: listening.signal },
    );
  const hover = (_: DragEvent, transfer: DataTransfer) => {
    transfer.dropEffect = 'copy';
    setOver(true);
  };
  on('dragenter', hover);
  on('dragover', hover);
  on('dragleave', (event) => {
    if (event.relatedTarget === null) setOver(false); // it has left the window
  });
  on('drop', (_, transfer) => {
    setOver(false);
    const target = dropTarget.get();
    void gather(transfer).then((gathered) => addGathered(gathered, target));
  });
  return () => listening.abort();
}
