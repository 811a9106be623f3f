// Where somebody was going who had to sign in first (API-20). It stands behind
// ?next= at the door, and in this tab only until they are in: a provider they
// sign in with sends them back to the first page.

import { readItem, writeItem } from '../lib/storage.ts';

const key = 'liminal.next';

/** An address of this program that a sign-in may lead to; null for everything else. */
export function placeIn(next: string | null): string | null {
  if (!next || !/^\/(?![/\\])/.test(next)) return null;
  try {
    const to = new URL(next, location.origin);
    return to.origin === location.origin && to.pathname !== '/login' ? to.pathname + to.search + to.hash : null;
  } catch {
    return null;
  }
}

/** Remembers it while somebody stands at the door. */
export function keepNext(): void {
  const next = location.pathname === '/login' ? placeIn(new URLSearchParams(location.search).get('next')) : null;
  if (next) writeItem('session', key, next + (next.includes('#') ? '' : location.hash)); // a redirect keeps what stands behind #
}

/** Where to go on to now that they are in, once; null: they are there. */
export function takeNext(): string | null {
  const next = placeIn(readItem('session', key));
  writeItem('session', key, null);
  return next ?? (location.pathname === '/login' ? '/' : null);
}
