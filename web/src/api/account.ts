// What an account can do about itself: letters, second factors, sign-ins,
// accounts elsewhere. Signing in and out is in session.ts.

import { useQuery } from '@tanstack/react-query';
import { ask } from './ask.ts';
import { clearSession, inTenant, post, setSession, withSetup } from './session.ts';
import type { Proof } from './types.ts';

export const accountKeys = {
  providers: ['providers'] as const,
  factor: ['factor'] as const,
  sessions: ['sessions'] as const,
  links: ['links'] as const,
};

/** Asks for a link to set a new password; the answer is the same whether or not there is an account (AUTH-08). */
export const requestReset = (email: string) => post<object>('/v1/auth/request_reset', { email });

/** Asks for a new link to confirm an address; just as silent. */
export const requestConfirmation = (email: string) => post<object>('/v1/auth/request_verification', { email });

export const confirmAddress = (token: string) => post<object>('/v1/auth/verify_email', { token });

/** Sets a new password by the token of a mail. Every session ends, this page's as well (AUTH-09). */
export async function completeReset(token: string, password: string): Promise<void> {
  await post<object>('/v1/auth/complete_reset', { token, new_password: password });
  clearSession();
}

export const changePassword = (before: string, next: string) =>
  ask('changePassword', { body: { old_password: before, new_password: next } });

export function useProviders() {
  return useQuery({
    queryKey: accountKeys.providers,
    queryFn: async ({ signal }) => (await ask('oauthProviders', { signal })).providers,
    staleTime: 300_000,
  });
}

/** Sends this browser to a provider; in a session, to link it to the account. */
export async function leaveFor(provider: string, tenant = '', setup = ''): Promise<void> {
  const { url } = await post<{ url: string }>(`/v1/auth/oauth/${encodeURIComponent(provider)}/start`, { ...inTenant(tenant), ...withSetup(setup) });
  location.assign(url);
}

export function useLinks() {
  return useQuery({
    queryKey: accountKeys.links,
    queryFn: async ({ signal }) => (await ask('links', { signal })).links,
  });
}

export const unlink = (provider: string) => ask('unlink', { path: { provider } });

export function useFactor() {
  return useQuery({ queryKey: accountKeys.factor, queryFn: ({ signal }) => ask('mfa', { signal }) });
}

export const enrolFactor = () => ask('enableMFA');

/** Shows the first code of a new authenticator. Every session ends, and this page gets a new one. */
export async function enableFactor(code: string): Promise<string[]> {
  const proved = await ask('verifyMFA', { body: { code } });
  setSession(proved);
  return proved.recovery_codes ?? [];
}

export const renewRecovery = async (proof: Proof) =>
  (await ask('renewRecoveryCodes', { body: proof })).recovery_codes;

export const disableFactor = (proof: Proof, password: string) =>
  ask('disableMFA', { body: { ...proof, ...(password ? { password } : {}) } });

export function useSessions() {
  return useQuery({
    queryKey: accountKeys.sessions,
    queryFn: async ({ signal }) => (await ask('listSessions', { signal })).data,
  });
}

export const endSession = (id: string) => ask('endSession', { path: { id } });
export const endOtherSessions = () => ask('endOtherSessions');
