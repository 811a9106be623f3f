import { expect, it } from 'vitest';
import type { Artifact } from '../api/artifacts.ts';
import { blockFixture, noteFixture } from './fixtures.ts';
import { priceOf, proposing, withDecided } from './notes.ts';

it('prices a note by the blocks that do not stay anyway', () => {
  const of = (retention_tier: string, tokens: number) => blockFixture({ retention_tier, tokens });
  expect(priceOf(noteFixture({ sources: [of('SHORT', 10), of('LONG', 100), of('MEDIUM', 5), of('SHORT', 1)] }))).toEqual({
    tokens: 16,
    now: [
      ['SHORT', 2],
      ['MEDIUM', 1],
    ],
  });
  expect(priceOf(noteFixture({ sources: [of('LONG', 100)] }))).toEqual({ tokens: 0, now: [] });
});

it('leaves what was decided where it stood, as it is now', () => {
  const [first, second, third] = ['1', '2', '3'].map((id) => noteFixture({ id })) as [ReturnType<typeof noteFixture>, ReturnType<typeof noteFixture>, ReturnType<typeof noteFixture>];
  const kept = noteFixture({ id: '2', state: 'kept' });
  expect(withDecided([third, first], new Map([['2', kept]])).map((one) => `${one.id} ${one.state}`)).toEqual(['3 proposed', '2 kept', '1 proposed']);
  expect(withDecided([third, second, first], new Map([['2', kept]])).map((one) => `${one.id} ${one.state}`)).toEqual(['3 proposed', '2 kept', '1 proposed']);
});

it('goes by the policy that holds for the person: their own before everybody’s, and no draft', () => {
  const policy = (id: string, owner_id: string | null, schema: object, of: Partial<Artifact> = {}) => ({ id, name: 'default', owner_id, status: 'active', schema, ...of }) as Artifact;
  const shipped = policy('all', null, { notes: { propose: false, most: 5 } });
  const own = policy('own', 'me', { notes: { propose: true } });
  expect(proposing([shipped, own], 'me')).toEqual({ id: 'own', propose: true, most: 5 });
  expect(proposing([own, policy('other', 'her', { notes: { propose: true } }), shipped], 'him')).toEqual({ id: 'all', propose: false, most: 5 });
  expect(proposing([policy('own', 'me', {}, { status: 'draft' }), policy('b', 'me', {}, { name: 'another' })], 'me')).toBeNull();
});
