// Who is signed in. The access token and the session's id live in memory and
// sessionStorage; the refresh token is an HttpOnly cookie this code never sees
// (C-33, UI-17).

import { createStore } from '../lib/store.ts';
import { language } from '../i18n/index.ts';
import { keepDraftsOf } from '../lib/drafts.ts';
import { keepNotices } from '../lib/notify.ts';
import { readItem, writeItem } from '../lib/storage.ts';
import { Failure, failureOf } from './failure.ts';
import type { Credentials, Proof, Proved, SignedUp, User } from './types.ts';

const tokenKey = 'liminal.token';
const sessionKey = 'liminal.session';
const hintKey = 'liminal.signed_in'; // only a hint that a cookie may exist: spares strangers a refused request

export interface Session {
  state: 'unknown' | 'out' | 'in';
  user: User | null;
}

export const session = createStore<Session>({ state: 'unknown', user: null });

let token: string | null = readItem('session', tokenKey);

let sessionID: string | null = readItem('session', sessionKey);

export function accessToken(): string | null {
  return token;
}

/** The id of the session the token is of; null when nobody is signed in. A refresh may change it. */
export function currentSession(): string | null {
  return token === null ? null : sessionID;
}

/** Says who asks (UI-18). The server goes by the token; a tenant or a session that is not the token's it refuses. */
export function identification(): Record<string, string> {
  if (token === null) return {};
  const tenant = session.get().user?.tenant_id;
  return {
    Authorization: `Bearer ${token}`,
    ...(tenant ? { 'X-Tenant-ID': tenant } : {}),
    ...(sessionID ? { session_id: sessionID } : {}),
  };
}

/**
 * Says, whenever it is called later, whether somebody else is signed in than
 * now: what one person began is not gone on with as another.
 */
export function watchPerson(): () => boolean {
  const before = session.get().user?.id;
  return () => {
    const now = session.get().user?.id;
    return before !== undefined && now !== undefined && now !== before;
  };
}

/** Why what another person began goes no further. Nobody reads it: their page has gone. */
export function notTheirs(): Failure {
  return new Failure(401, 'unauthorized', '');
}

function hold(bearer: string | null, id: string | null): void {
  token = bearer;
  sessionID = id;
  writeItem('session', tokenKey, bearer);
  writeItem('session', sessionKey, id);
}

/** Makes these credentials the session of this page. */
export function setSession(credentials: Credentials): void {
  hold(credentials.access_token, credentials.session_id);
  writeItem('local', hintKey, '1');
  enter(credentials.user);
}

/** What this browser keeps is theirs from now on, or goes. */
function enter(user: User): void {
  keepNotices(keepDraftsOf(user.id));
  session.set({ state: 'in', user });
}

/** Nobody is signed in on this page any more; says nothing to the server. */
export function clearSession(): void {
  hold(null, null);
  writeItem('local', hintKey, null);
  session.set({ state: 'out', user: null });
}

/** Posts as the page stands, signed in or not: no refresh, no second try. */
export async function post<T>(path: string, body: unknown): Promise<T> {
  const response = await fetch(path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...identification() },
    body: JSON.stringify(body),
  }).catch(() => {
    throw new Failure(0, 'unreachable', '');
  });
  if (!response.ok) throw await failureOf(response);
  return ((await response.json()) as { data: T }).data;
}

export async function signIn(email: string, password: string, tenant = ''): Promise<void> {
  setSession(await post<Credentials>('/v1/auth/login', { email, password, ...inTenant(tenant) }));
}

/** Makes an account; false when its address must be confirmed by a mail first. */
export async function signUp(email: string, password: string, tenant = '', setup = ''): Promise<boolean> {
  const made = await post<SignedUp>('/v1/auth/signup', { email, password, locale: language.get(), ...inTenant(tenant), ...withSetup(setup) });
  if (made.confirm_email) return false;
  setSession(made);
  return true;
}

/** The part of a request that names a tenant; without one the server's own rule holds (ISO-12). */
export function inTenant(tenant: string): { tenant_id?: string } {
  return tenant.trim() ? { tenant_id: tenant.trim() } : {};
}

/** The part of a request that shows the setup word, which the first account may ask for. */
export function withSetup(word: string): { setup_word?: string } {
  return word.trim() ? { setup_word: word.trim() } : {};
}

/** Whether a failure asks for the setup word: the first account of a server that is not on this machine. */
export function asksForSetup(error: unknown): boolean {
  return error instanceof Failure && error.detail('reason') === 'setup_word';
}

/** The ticket of a sign-in that asks for a second factor; null for every other failure (AUTH-15). */
export function ticketOf(error: unknown): string | null {
  if (!(error instanceof Failure) || error.detail('reason') !== 'mfa_required') return null;
  return error.detail('ticket') || null;
}

/** Shows the second factor of a sign-in (AUTH-13). */
export async function proveTicket(ticket: string, proof: Proof): Promise<void> {
  setSession(await post<Proved>('/v1/auth/mfa/verify', { ticket, ...proof }));
}

/** Takes the session a provider's callback left in the cookie, whoever this page was before. */
export function enterByCookie(): Promise<boolean> {
  hold(null, null);
  return refresh();
}

export async function signOut(): Promise<void> {
  await post('/v1/auth/logout', {}).catch(() => undefined); // signed out here either way
  clearSession();
}

const conflictPause = 400; // ms

let refreshing: Promise<boolean> | null = null;

/**
 * Trades the cookie for a new access token; true when someone is signed in.
 * One request at a time, also across tabs, because a refresh token works once.
 */
export function refresh(): Promise<boolean> {
  refreshing ??= locked(renew).finally(() => {
    refreshing = null;
  });
  return refreshing;
}

async function renew(): Promise<boolean> {
  try {
    setSession(await trade());
    return true;
  } catch (error) {
    // Only a refusal says that nobody is signed in; everything else may pass.
    if (error instanceof Failure && error.status !== 401 && error.status !== 403) throw error;
    clearSession();
    return false;
  }
}

/** A conflict says that another page is trading this very cookie: its answer brings the next one. */
async function trade(): Promise<Credentials> {
  const ask = () => post<Credentials>('/v1/auth/refresh', {});
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof Failure) || error.status !== 409) throw error;
    await new Promise((resolve) => setTimeout(resolve, conflictPause));
    return ask();
  }
}

function locked<T>(work: () => Promise<T>): Promise<T> {
  return navigator.locks ? navigator.locks.request('liminal.refresh', work) : work();
}

/** Finds out on load who is signed in. */
export async function restore(): Promise<void> {
  if (token) {
    const response = await fetch('/v1/auth/me', { headers: identification() }).catch(() => null);
    if (response?.ok) {
      const { data } = (await response.json()) as { data: { user: User } };
      enter(data.user);
      return;
    }
    if (!response || response.status >= 500) throw new Failure(0, 'unreachable', '');
  }
  if (token || readItem('local', hintKey)) await refresh();
  else clearSession();
}

/** Asks who is signed in once more: another page may have confirmed the address. */
export async function lookAgain(): Promise<void> {
  const response = await fetch('/v1/auth/me', { headers: identification() }).catch(() => null);
  if (!response?.ok) return; // what is known stays; the next call says more
  const { data } = (await response.json()) as { data: { user: User } };
  if (session.get().user?.id === data.user.id) session.set({ state: 'in', user: data.user });
}
