import { beforeEach, describe, expect, it } from 'vitest';
import type { Artifact } from '../api/artifacts.ts';
import { userFixture } from '../api/fixtures.ts';
import type { User } from '../api/types.ts';
import { deArtifacts } from '../i18n/de.artifacts.ts';
import { enArtifacts } from '../i18n/en.artifacts.ts';
import { operate } from '../i18n/en.operate.ts';
import { en } from '../i18n/en.ts';
import { kinds, templateOf } from './templates.ts';
import { forgetEdits, readEdit, writeEdit } from './edits.ts';
import { mayPropose, mayWrite } from './rights.ts';
import { sorted, turned, usual, type Column } from './table.ts';

beforeEach(() => localStorage.clear());

const one = (more: Partial<Artifact>): Artifact => ({
  id: 'x',
  type: 'workflow.chat',
  name: 'a',
  description: '',
  status: 'active',
  rollout: null,
  visibility: 'private',
  opened: false,
  version: 1,
  schema: {},
  owner_id: 'ann',
  created_by: 'user',
  created_at: '2026-01-01T00:00:00Z',
  updated_at: '2026-01-01T00:00:00Z',
  ...more,
});

// Requirements: UI-11
describe('the order of the list', () => {
  const list = [
    one({ id: '1', name: 'b10', type: 'tool.spec', visibility: 'global', version: 9, updated_at: '2026-01-02T00:00:00Z' }),
    one({ id: '2', name: 'b9', type: 'adapter.lora', visibility: 'shared', version: 10, updated_at: '2026-01-03T00:00:00Z' }),
    one({ id: '3', name: 'Ä', type: 'policy.routing', visibility: 'private', version: 2, updated_at: '2026-01-01T00:00:00Z' }),
  ];
  const ids = (by: Column, down = false) => sorted(list, { by, down }, 'de').map((artifact) => artifact.id).join('');
  it.each([
    ['name', '321'],
    ['type', '231'],
    ['visibility', '132'],
    ['version', '312'],
    ['updated', '312'],
  ] as const)('by %s is %s, and the other way round', (by, want) => {
    expect(ids(by)).toBe(want);
    expect(ids(by, true)).toBe([...want].toReversed().join(''));
  });

  it('is turned by a second click, and begins where one looks first', () => {
    expect(turned(usual, 'name')).toEqual({ by: 'name', down: false });
    expect(turned({ by: 'name', down: false }, 'name')).toEqual({ by: 'name', down: true });
    expect(turned({ by: 'name', down: true }, 'updated')).toEqual({ by: 'updated', down: true });
  });
});

// Requirements: CFG-02
describe('what is offered to a person', () => {
  const person = (id: string, role: User['role']): User => userFixture(id, { role });
  const house = one({ owner_id: null, visibility: 'global' });
  it.each([
    ['their own', one({}), person('ann', 'user'), true, true],
    ['another’s, to a plain user', one({ visibility: 'shared' }), person('bob', 'user'), false, false],
    ['everybody’s, to a plain user', house, person('bob', 'user'), false, false],
    ['everybody’s, to a power user', house, person('bob', 'power'), true, false],
    ['everybody’s, to an administrator', house, person('bob', 'admin'), true, true],
    ['a draft', one({ status: 'draft' }), person('ann', 'admin'), false, false],
  ])('%s', (_, artifact, user, proposes, writes) => {
    expect([mayPropose(artifact, user), mayWrite(artifact, user)]).toEqual([proposes, writes]);
    expect([mayPropose(artifact, null), mayWrite(artifact, null)]).toEqual([false, false]);
  });
});

describe('what is written and not proposed', () => {
  const edit = { text: '{', base: 3, why: 'because' };
  it('is kept for its writer alone, and gone when they sign out', () => {
    writeEdit('ann', 'x', edit);
    expect(readEdit('ann', 'x')).toEqual(edit);
    expect([readEdit('bob', 'x'), readEdit('ann', 'y')]).toEqual([null, null]);
    writeEdit('ann', 'x', null);
    expect(localStorage.getItem('liminal.edits')).toBeNull();
    writeEdit('ann', 'x', edit);
    forgetEdits();
    expect(readEdit('ann', 'x')).toBeNull();
  });

  it('survives a broken store', () => {
    localStorage.setItem('liminal.edits', '{broken');
    expect(readEdit('ann', 'x')).toBeNull();
    localStorage.setItem('liminal.edits', '{"owner":"ann","edits":{"x":{"text":7}}}');
    expect(readEdit('ann', 'x')).toBeNull();
  });
});

it('begins documents with their kind', () => {
  for (const kind of kinds) expect(templateOf(kind, 'n')).toMatchObject({ kind });
});

describe('the words', () => {
  it('of the artifacts are nobody else’s', () => {
    expect(Object.keys(enArtifacts).filter((key) => key in operate)).toEqual([]);
    for (const [key, value] of Object.entries(enArtifacts)) expect(en[key as keyof typeof en], key).toBe(value);
  });

  it('are told in both languages', () => {
    expect(deArtifacts.badge('workflow')).toBe('Ablauf');
    expect(deArtifacts.editorPhrase('Fold line')).toBe('Zeile einklappen');
    expect([enArtifacts.openDecisions(1), deArtifacts.openDecisions(2)]).toEqual(['1 decision is open', '2 Entscheidungen sind offen']);
  });
});
