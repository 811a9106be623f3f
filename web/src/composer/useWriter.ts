// The editor in a component: it is made once, keeps its words as a draft, and
// typing in it renders nothing but itself.

import { useLayoutEffect, useRef, useState, type RefObject } from 'react';
import { onSaveDrafts, writeDraft } from '../lib/drafts.ts';
import { useStore } from '../lib/store.ts';
import { draftsTouched } from '../chat/commands.ts';
import type { Piece } from './doc.ts';
import { draftLines, saveDraft } from './draft.ts';
import { createWriter, type Query, type Writer } from './writer.ts';

const saveAfter = 1_000; // ms of rest (UI-15)

interface Options {
  draftKey: string;
  key(event: KeyboardEvent): boolean;
}

export interface Writing {
  empty: boolean;
  query: Query | null; // what is written behind an @
  writer(): Writer;
  clear(): void;
}

export function useWriter(place: RefObject<HTMLElement | null>, options: Options): Writing {
  const { draftKey } = options;
  const touched = useStore(draftsTouched);
  const [empty, setEmpty] = useState(true);
  const [query, setQuery] = useState<Query | null>(null);
  const made = useRef<{ writer: Writer; draft: Draft }>(null);
  const latest = useRef(options);
  useLayoutEffect(() => {
    latest.current = options;
  });

  useLayoutEffect(() => {
    const draft = new Draft(() => writer.lines());
    const writer = createWriter(place.current!, [[]], {
      changed(blank) {
        setEmpty(blank);
        draft.changed();
      },
      asked: setQuery,
      key: (event) => latest.current.key(event),
    });
    made.current = { writer, draft };
    const save = () => draft.save();
    const off = onSaveDrafts(save);
    window.addEventListener('pagehide', save);
    return () => {
      save();
      off();
      window.removeEventListener('pagehide', save);
      writer.destroy();
    };
  }, [place]);

  useLayoutEffect(() => {
    const { writer, draft } = made.current!;
    draft.goTo(draftKey);
    writer.load(draftLines(draftKey));
    draft.settled();
  }, [draftKey, touched]);

  return {
    empty,
    query,
    writer: () => made.current!.writer,
    clear() {
      const { writer, draft } = made.current!;
      writer.load([[]]);
      writeDraft(draftKey, '');
      draft.settled();
    },
  };
}

/** Gives the box its attributes, and whether it can be written in. */
export function useShown(writing: Writing, attributes: Record<string, string>, editable: boolean): void {
  const { writer } = writing;
  const shown = JSON.stringify(attributes);
  const of = useRef(writer);
  useLayoutEffect(() => of.current().show(JSON.parse(shown) as Record<string, string>, editable), [shown, editable]);
}

/** Saves what is written after a rest, and at once when it is asked to. */
class Draft {
  private key = '';
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly lines: () => Piece[][]) {}

  /** What is written from now on is another draft. */
  goTo(key: string): void {
    if (this.key !== key) this.save();
    this.key = key;
  }

  changed(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.save(), saveAfter);
  }

  /** What is written is what is kept. */
  settled(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  save(): void {
    if (this.timer === undefined) return;
    this.settled();
    saveDraft(this.key, this.lines());
  }
}
