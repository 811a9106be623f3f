import { describe, expect, it } from 'vitest';
import type { Operation } from '../api/changes.ts';
import { patchBetween, same } from './patch.ts';

/** What a server does with operations (RFC 6902), as far as these go. */
function apply(doc: unknown, patch: Operation[]): unknown {
  let root = structuredClone(doc);
  const parts = (path: string) => path.split('/').slice(1).map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  const parent = (path: string) => {
    const names = parts(path);
    const last = names.pop()!;
    let at = root as Record<string, unknown>;
    for (const name of names) at = at[name] as Record<string, unknown>;
    return { at, last };
  };
  const remove = (path: string): unknown => {
    const { at, last } = parent(path);
    if (Array.isArray(at)) return at.splice(Number(last), 1)[0];
    const value = at[last];
    delete at[last];
    return value;
  };
  const add = (path: string, value: unknown) => {
    if (path === '') {
      root = value;
      return;
    }
    const { at, last } = parent(path);
    if (Array.isArray(at)) at.splice(Number(last), 0, value);
    else at[last] = value;
  };
  for (const one of patch) {
    if (one.op === 'remove') remove(one.path);
    else if (one.op === 'move') add(one.path, remove(one.from!));
    else if (one.op === 'replace' && one.path !== '') {
      const { at, last } = parent(one.path);
      at[last] = structuredClone(one.value);
    } else add(one.path, structuredClone(one.value));
  }
  return root;
}

const node = (id: string, more: object = {}) => ({ id, type: 'tool_call', ...more });
const short = (patch: Operation[]) => patch.map((one) => `${one.op} ${one.from ? `${one.from} ` : ''}${one.path}`);

describe('the operations', () => {
  it('are one for a node put in between, taken out, renamed inside, or moved', () => {
    const doc = { nodes: [node('a'), node('b'), node('c')] };
    expect(short(patchBetween(doc, { nodes: [node('a'), node('x'), node('b'), node('c')] }))).toEqual(['add /nodes/1']);
    expect(short(patchBetween(doc, { nodes: [node('a'), node('c')] }))).toEqual(['remove /nodes/1']);
    expect(short(patchBetween(doc, { nodes: [node('a'), node('b', { next: 'c' }), node('c')] }))).toEqual(['add /nodes/1/next']);
    expect(short(patchBetween(doc, { nodes: [node('c'), node('a'), node('b')] }))).toEqual(['move /nodes/2 /nodes/0']);
  });

  it('are few for a branch put in between', () => {
    const branches = [{ when: 'a', next: 'x' }, { when: 'true', next: 'y' }];
    expect(short(patchBetween({ branches }, { branches: [branches[0], { when: 'b', next: 'z' }, branches[1]] }))).toEqual(['add /branches/1']);
  });

  it('write names with slashes and tildes as pointers have them', () => {
    expect(patchBetween({}, { 'a/b~c': 1 })).toEqual([{ op: 'add', path: '/a~1b~0c', value: 1 }]);
  });

  it('replace the whole where nothing is alike', () => {
    expect(patchBetween({ a: 1 }, [1])).toEqual([{ op: 'replace', path: '', value: [1] }]);
    expect(patchBetween({ a: 1 }, { a: 1 })).toEqual([]);
  });

  it('lead from any document to any other', () => {
    const random = generator(7);
    for (let round = 0; round < 600; round++) {
      const before = document(random, 3);
      const after = round % 2 === 0 ? document(random, 3) : mutated(before, random);
      expect(same(apply(before, patchBetween(before, after)), after)).toBe(true);
    }
  });
});

function generator(seed: number): (most: number) => number {
  let state = seed;
  return (most) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * most);
  };
}

function document(random: (most: number) => number, depth: number): unknown {
  const kind = depth === 0 ? random(3) : random(6);
  if (kind === 0) return random(3);
  if (kind === 1) return ['a', 'b', null, true][random(4)];
  if (kind === 2) return String(random(5));
  if (kind === 3) return Array.from({ length: random(4) }, () => document(random, depth - 1));
  if (kind === 4) return shuffled(['p', 'q', 'r', 's', 't'], random).slice(0, random(6)).map((id) => ({ id, value: document(random, depth - 1) }));
  return Object.fromEntries(shuffled(['x', 'y', 'z/z', '~'], random).slice(0, random(5)).map((key) => [key, document(random, depth - 1)]));
}

function mutated(value: unknown, random: (most: number) => number): unknown {
  if (Array.isArray(value)) {
    const list = value.map((one) => (random(3) === 0 ? mutated(one, random) : one));
    return random(2) === 0 ? shuffled(list, random) : list.filter(() => random(4) > 0);
  }
  if (typeof value === 'object' && value !== null) return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, key === 'id' ? one : mutated(one, random)]));
  return random(4) === 0 ? document(random, 1) : value;
}

function shuffled<T>(list: T[], random: (most: number) => number): T[] {
  const out = [...list];
  for (let at = out.length - 1; at > 0; at--) {
    const other = random(at + 1);
    [out[at], out[other]] = [out[other]!, out[at]!];
  }
  return out;
}
