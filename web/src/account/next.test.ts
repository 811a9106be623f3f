import { beforeEach, expect, it } from 'vitest';
import { keepNext, placeIn, takeNext } from './next.ts';

beforeEach(() => sessionStorage.clear());

// Requirements: API-20 (302 to /login for pages)
it('leads back to where somebody was going, once, and nowhere else', () => {
  history.replaceState(null, '', '/login?next=%2Fc%2F0193%3Fa%3Db#turn');
  keepNext();
  history.replaceState(null, '', '/'); // a provider sends them here
  expect(takeNext()).toBe('/c/0193?a=b#turn');
  expect(takeNext()).toBeNull();
  history.replaceState(null, '', '/login');
  keepNext();
  expect(takeNext()).toBe('/');
});

it('takes no address of another place for one of this', () => {
  for (const next of [null, '', 'x', 'https://evil.example/', '//evil.example', '/\\evil.example', 'javascript:alert(1)', '/login?next=/login']) expect(placeIn(next), String(next)).toBeNull();
  expect(placeIn('/paliadin')).toBe('/paliadin');
});
