import { beforeEach, describe, expect, it } from 'vitest';
import { arrival, leaveArrival, readArrival, takeArrival } from './arrival.ts';

function open(address: string): void {
  history.replaceState(null, '', address);
  takeArrival();
}

beforeEach(() => {
  history.replaceState(null, '', '/');
  arrival.set(null);
});

describe('an address', () => {
  it.each([
    ['/reset', '#ABC234', { kind: 'reset', token: 'ABC234' }],
    ['/reset', '', { kind: 'reset', token: '' }],
    ['/verify', '#ABC234', { kind: 'confirm', token: 'ABC234' }],
    ['/', '#mfa_ticket=A%2BB', { kind: 'factor', ticket: 'A+B' }],
    ['/c/1', '#signed_in=oidc%3Aacme', { kind: 'signed_in' }],
    ['/', '#linked=github', { kind: 'linked' }],
    ['/', '#message', null], // the skip link
    ['/', '#mfa_ticket=', null],
    ['/c/1', '', null],
  ])('%s%s', (path, hash, want) => {
    expect(readArrival(path, hash)).toEqual(want);
  });
});

describe('a token', () => {
  it('leaves the address bar and the history at once', () => {
    const before = history.length;
    open('/reset#ABC234');
    expect(location.href).not.toContain('ABC234');
    expect([location.pathname, history.length]).toEqual(['/reset', before]);
    expect(arrival.get()).toEqual({ kind: 'reset', token: 'ABC234' });
  });

  it('is not forgotten when the address without it is read again', () => {
    open('/verify#ABC234');
    takeArrival();
    expect(arrival.get()).toEqual({ kind: 'confirm', token: 'ABC234' });
  });

  it('gives way to the one of a newer link', () => {
    open('/reset#ABC234');
    open('/reset#DEF567');
    expect(arrival.get()).toEqual({ kind: 'reset', token: 'DEF567' });
  });
});

it('a settled matter leaves an ordinary address, and keeps the one somebody came back to', () => {
  open('/reset#ABC234');
  leaveArrival();
  expect([location.pathname, arrival.get()]).toEqual(['/', null]);
  open('/c/1?x=1#mfa_ticket=T');
  leaveArrival();
  expect(location.pathname + location.search + location.hash).toBe('/c/1?x=1');
});

it('the place of a fragment that means nothing here stays', () => {
  open('/#message');
  expect([location.hash, arrival.get()]).toEqual(['#message', null]);
});
