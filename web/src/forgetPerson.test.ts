import { afterEach, expect, it } from 'vitest';
import { userFixture } from './api/fixtures.ts';
import { queryClient } from './api/queries.ts';
import { clearSession, session, setSession } from './api/session.ts';
import './forgetPerson.ts';

const as = (id: string) => ({ user: userFixture(id), access_token: id, refresh_token: '', session_id: '', session_expires_at: '' });

afterEach(clearSession);

// Requirements: UI-17
it.each([['leaves', clearSession], ['is followed by another', () => setSession(as('bob'))]])('what a person has read is gone before anything is drawn once they %s', (_, go) => {
  setSession(as('ann'));
  queryClient.setQueryData(['conversations'], 'of ann');
  setSession(as('ann')); // a renewed token is no other person
  expect(queryClient.getQueryData(['conversations'])).toBe('of ann');
  const drawn: unknown[] = [];
  const off = session.subscribe(() => drawn.push(queryClient.getQueryData(['conversations'])));
  go();
  off();
  expect(drawn).toEqual([undefined]);
});

it('what came for them after they had left is gone before the next one is there', () => {
  setSession(as('ann'));
  clearSession();
  queryClient.setQueryData(['conversations'], 'of ann');
  setSession(as('bob'));
  expect(queryClient.getQueryData(['conversations'])).toBe(undefined);
});

it('a refusal that comes after they have left takes nothing from the door', () => {
  setSession(as('ann'));
  clearSession();
  queryClient.setQueryData(['ui'], 'what the door asked');
  clearSession(); // as after a refresh that was refused
  expect(queryClient.getQueryData(['ui'])).toBe('what the door asked');
});
