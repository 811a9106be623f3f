import { useEffect, useState, type RefObject } from 'react';

/** Becomes true once the element has come near the screen, and stays so. */
export function useSeen(element: RefObject<HTMLElement | null>): boolean {
  const [seen, setSeen] = useState(false);
  useEffect(() => {
    if (seen || !element.current) return;
    const watcher = new IntersectionObserver(
      (entries) => {
        if (entries.some((entry) => entry.isIntersecting)) setSeen(true);
      },
      { rootMargin: '200px' },
    );
    watcher.observe(element.current);
    return () => watcher.disconnect();
  }, [element, seen]);
  return seen;
}
