import { useEffect, useRef } from 'react';

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
