import { expect, it } from 'vitest';
import { placeOf } from './place.ts';

it.each([
  ['/', 'chat'],
  ['/c/1', 'chat'],
  ['/artifacts', 'artifacts'],
  ['/artifacts/a.b/edit', 'artifacts'],
  ['/operate/patches/1', 'operate'],
  ['/contexts', 'contexts'],
  ['/contexts/1', 'contexts'],
  ['/settings', 'settings'],
  ['/artifactsandmore', 'surface'],
  ['/paliadin', 'surface'],
  ['/inbox', 'inbox'],
])('%s belongs to %s', (path, place) => {
  expect(placeOf(path)).toBe(place);
});
