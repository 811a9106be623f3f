// What the box one writes in can do by itself: keep its words, grow with them,
// and come when it is called.

import { useEffect, useRef, useState, type RefObject } from 'react';
import { readDraft, writeDraft } from '../lib/drafts.ts';
import { useStore } from '../lib/store.ts';
import { draftsTouched } from './talk.ts';

const saveAfter = 1_000; // ms of rest (UI-15)

/** Words that survive a reload: saved after a rest, and at once when the page goes. */
export function useDraft(key: string): [string, (text: string) => void] {
  const touched = useStore(draftsTouched);
  const [held, setHeld] = useState({ key, touched, text: readDraft(key) });
  if (held.key !== key || held.touched !== touched) setHeld({ key, touched, text: readDraft(key) });
  const latest = useRef<{ key: string; text: string } | null>(null);

  useEffect(() => {
    const save = () => {
      if (latest.current) writeDraft(latest.current.key, latest.current.text);
      latest.current = null;
    };
    const timer = setTimeout(save, saveAfter);
    window.addEventListener('pagehide', save);
    return () => {
      clearTimeout(timer);
      window.removeEventListener('pagehide', save);
    };
  }, [held]);
  useEffect(
    () => () => {
      if (latest.current) writeDraft(latest.current.key, latest.current.text);
      latest.current = null;
    },
    [key],
  );

  return [
    held.text,
    (text) => {
      latest.current = { key, text };
      if (text === '') {
        writeDraft(key, '');
        latest.current = null;
      }
      setHeld({ key, touched, text });
    },
  ];
}

/** A slash pressed outside any field goes to the box. */
export function useSlash(field: RefObject<HTMLTextAreaElement | null>) {
  useEffect(() => {
    function press(event: KeyboardEvent) {
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.target instanceof Element && event.target.closest('input, textarea, select, [contenteditable]')) return;
      event.preventDefault();
      field.current?.focus();
    }
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, [field]);
}

const tallest = 240; // px

/** A box as tall as its words, up to a limit. */
export function useGrowing(content: string) {
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    const box = field.current;
    if (!box) return;
    box.style.height = 'auto';
    box.style.height = `${Math.min(box.scrollHeight, tallest)}px`;
  }, [content]);
  return field;
}
