// Who is signed in. The access token lives in memory and sessionStorage; the
// refresh token is an HttpOnly cookie this code never sees (C-33, UI-17).

import { createStore } from '../lib/store.ts';
import { keepDraftsOf } from '../lib/drafts.ts';
import { readItem, writeItem } from '../lib/storage.ts';
import { Failure, failureOf } from './failure.ts';
import type { Credentials, User } from './types.ts';

const tokenKey = 'liminal.token';
const hintKey = 'liminal.signed_in'; // only a hint that a cookie may exist: spares strangers a refused request

export interface Session {
  state: 'unknown' | 'out' | 'in';
  user: User | null;
}

export const session = createStore<Session>({ state: 'unknown', user: null });

let token: string | null = readItem('session', tokenKey);

export function accessToken(): string | null {
  return token;
}

function keep(credentials: Credentials): void {
  token = credentials.access_token;
  writeItem('session', tokenKey, token);
  writeItem('local', hintKey, '1');
  keepDraftsOf(credentials.user.id);
  session.set({ state: 'in', user: credentials.user });
}

export function forget(): void {
  token = null;
  writeItem('session', tokenKey, null);
  writeItem('local', hintKey, null);
  session.set({ state: 'out', user: null });
}

async function post(path: string, body: unknown): Promise<Credentials> {
  const response = await fetch(path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...(token ? { Authorization: `Bearer ${token}` } : {}) },
    body: JSON.stringify(body),
  }).catch(() => {
    throw new Failure(0, 'unreachable', '');
  });
  if (!response.ok) throw await failureOf(response);
  return ((await response.json()) as { data: Credentials }).data;
}

export async function signIn(email: string, password: string): Promise<void> {
  keep(await post('/v1/auth/login', { email, password }));
}

export async function signUp(email: string, password: string): Promise<void> {
  keep(await post('/v1/auth/signup', { email, password }));
}

export async function signOut(): Promise<void> {
  await post('/v1/auth/logout', {}).catch(() => undefined); // signed out here either way
  forget();
}

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
    keep(await post('/v1/auth/refresh', {}));
    return true;
  } catch (error) {
    if (error instanceof Failure && (error.unreachable || error.status >= 500)) throw error;
    forget();
    return false;
  }
}

function locked<T>(work: () => Promise<T>): Promise<T> {
  return navigator.locks ? navigator.locks.request('liminal.refresh', work) : work();
}

/** Finds out on load who is signed in. */
export async function restore(): Promise<void> {
  if (token) {
    const response = await fetch('/v1/auth/me', { headers: { Authorization: `Bearer ${token}` } }).catch(() => null);
    if (response?.ok) {
      const { data } = (await response.json()) as { data: { user: User } };
      session.set({ state: 'in', user: data.user });
      return;
    }
    if (!response || response.status >= 500) throw new Failure(0, 'unreachable', '');
  }
  if (token || readItem('local', hintKey)) await refresh();
  else forget();
}
