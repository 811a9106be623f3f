// Letting a program in that signs its person in (OAuth 2.1). What it asks for stands in
// the address of the page, and is judged by the server each time anew.

import { useQuery } from '@tanstack/react-query';
import { ask, type Body, type Data } from './ask.ts';

export type Consent = Data<'readConsent'>;

/** What a program asks for, as the address has it. */
export type Asking = Record<string, string>;

export const askingIn = (search: string): Asking => Object.fromEntries(new URLSearchParams(search));

export function useConsent(asking: Asking) {
  return useQuery({
    queryKey: ['consent', asking],
    queryFn: ({ signal }) => ask('readConsent', { query: asking, signal, once: true }),
    staleTime: Infinity, // a decision is judged anew
    retry: false,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
}

type Decision = Pick<Body<'decideConsent'>, 'allow' | 'scopes' | 'code' | 'recovery_code'>;

/** Decides, and says where to go with that. */
export async function decideConsent(asking: Asking, decision: Decision): Promise<string> {
  const { redirect } = await ask('decideConsent', { body: { ...asking, ...decision } as Body<'decideConsent'>, once: true });
  return redirect;
}

/** Schemes that a browser runs or reads itself; which others are no app's own, the server has judged (internal/authserver). */
const acted = /^(javascript|vbscript|data|blob|file|filesystem|about|view-source|ws|wss|ftp):$/;

/** Whether a browser may be sent there: a page, or an app by a scheme of its own, never a script. */
export function leadsOut(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol } = new URL(address);
  if (/^https?:$/.test(protocol) || /^[a-z][a-z0-9+-]*(\.[a-z0-9+-]+)+:$/.test(protocol)) return true;
  return /^[a-z][a-z0-9+-]*:\/\/[^/]/.test(address) && !acted.test(protocol);
}
