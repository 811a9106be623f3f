// What the address said when this page was opened: the link of a mail, or a
// provider that sends a person back. It stands behind the #, which no server
// sees, and leaves the address bar and the history at once, before anything
// else runs. Tokens live in memory only.

import { createStore } from '../lib/store.ts';

export type Arrival =
  | { kind: 'reset'; token: string } // AUTH-09; '' when the link lost its token
  | { kind: 'confirm'; token: string } // AUTH-10
  | { kind: 'factor'; ticket: string } // a sign-in elsewhere, yet to show its second factor
  | { kind: 'signed_in' } // the refresh token is in the cookie
  | { kind: 'linked' }
  | { kind: 'refused' }; // a sign-in elsewhere that left no session

/** What an address means; null for an ordinary page. */
export function readArrival(path: string, hash: string): Arrival | null {
  const fragment = hash.replace(/^#/, '');
  if (path === '/reset') return { kind: 'reset', token: fragment };
  if (path === '/verify') return { kind: 'confirm', token: fragment };
  const said = new URLSearchParams(fragment);
  const ticket = said.get('mfa_ticket');
  if (ticket) return { kind: 'factor', ticket };
  if (said.has('signed_in')) return { kind: 'signed_in' };
  if (said.has('linked')) return { kind: 'linked' };
  return null;
}

export const arrival = createStore<Arrival | null>(null);

/** Reads the address and takes what it said out of it. */
export function takeArrival(): void {
  const came = readArrival(location.pathname, location.hash);
  if (!came) return;
  if (location.hash) history.replaceState(history.state, '', location.pathname + location.search);
  // Reloaded without its token, or the token was just taken: nothing new.
  if ('token' in came && came.token === '' && arrival.get()?.kind === came.kind) return;
  arrival.set(came);
}

/** The matter is settled: an ordinary page again, under an ordinary address. */
export function leaveArrival(): void {
  if (['/reset', '/verify'].includes(location.pathname)) history.replaceState(null, '', '/');
  arrival.set(null);
}

takeArrival();
// A second link of the same kind, opened in this page, changes the # only.
addEventListener('hashchange', takeArrival);
