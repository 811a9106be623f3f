import { useRef, useState, type DragEvent, type ReactNode } from 'react';
import type { Conversation } from '../api/types.ts';
import { useWords } from '../i18n/index.ts';
import { chosenContext, contextOf } from './choice.ts';
import { addFiles } from './uploads.ts';

interface Props {
  draftKey: string;
  conversation: Conversation | null;
  children: ReactNode;
}

/** The whole conversation takes files that are dropped on it. */
export function DropZone({ draftKey, conversation, children }: Props) {
  const words = useWords();
  const depth = useRef(0); // entering a child leaves its parent: only the sum tells
  const [over, setOver] = useState(false);

  function track(event: DragEvent, step: number) {
    if (!event.dataTransfer.types.includes('Files')) return;
    event.preventDefault();
    depth.current += step;
    setOver(depth.current > 0);
  }

  return (
    <div
      className="drop-zone"
      onDragEnter={(event) => track(event, 1)}
      onDragOver={(event) => track(event, 0)}
      onDragLeave={(event) => track(event, -1)}
      onDrop={(event) => {
        track(event, 0);
        depth.current = 0;
        setOver(false);
        const files = [...event.dataTransfer.files];
        if (files.length > 0) void addFiles(files, contextOf(chosenContext.get(), draftKey, conversation));
      }}
    >
      {children}
      {over && (
        <div className="drop-here">
          <p>{words.dropHere}</p>
        </div>
      )}
    </div>
  );
}
