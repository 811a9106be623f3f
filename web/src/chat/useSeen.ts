import { useEffect, useState, type RefObject } from 'react';

/** Who waits to be seen. One watcher for all of them: there may be thousands. */
const waiting = new Map<Element, () => void>();
let watcher: IntersectionObserver | undefined;

function watch(element: Element, seen: () => void): () => void {
  watcher ??= new IntersectionObserver(
    (entries) => {
      for (const entry of entries) if (entry.isIntersecting) waiting.get(entry.target)?.();
    },
    { rootMargin: '200px' },
  );
  waiting.set(element, seen);
  watcher.observe(element);
  return () => {
    waiting.delete(element);
    watcher!.unobserve(element);
  };
}

/** Becomes true once the element has come near the screen, and stays so. */
export function useSeen(element: RefObject<HTMLElement | null>): boolean {
  const [seen, setSeen] = useState(false);
  useEffect(() => {
    if (seen || !element.current) return;
    return watch(element.current, () => setSeen(true));
  }, [element, seen]);
  return seen;
}
