import { describe, expect, it } from 'vitest';
import { after, before } from './fixtures.ts';
import { itemsOf, lineAt, linesOf, placeOf, touched } from './graph.ts';

describe('what a change touches', () => {
  it('is every node that is another afterwards, or new', () => {
    const { changed, removed } = touched(before, after);
    expect([...changed]).toEqual(['node_route', 'node_rag']);
    expect(removed).toEqual([]);
  });

  it('does not mind the order of members, and names what is gone', () => {
    expect(touched({ nodes: [{ id: 'a', type: 'end' }, { id: 'b' }] }, { nodes: [{ type: 'end', id: 'a' }] })).toEqual({ changed: new Set(), removed: ['b'] });
    expect(touched(null, { nodes: 3 })).toEqual({ changed: new Set(), removed: [] });
  });
});

describe('a place in a document', () => {
  const lines = linesOf(after);

  it('is found by its pointer', () => {
    expect(lines[lineAt(lines, '/nodes/1/branches/2/next')]?.text.trim()).toBe('"next": "node_rag"');
    expect(lines[lineAt(lines, '/timeout_ms')]?.text.trim()).toBe('"timeout_ms": 45000');
  });

  it('is the nearest there is where the pointer leads nowhere', () => {
    expect(lines[lineAt(lines, '/nodes/5/next')]?.pointer).toBe('/nodes/5');
    expect(lineAt(lines, '/nothing')).toBe(0);
  });

  it('is written as JSON is, names with slashes too', () => {
    const odd = { 'a/b': [1, []], empty: {} };
    expect(linesOf(odd).map((line) => line.text).join('\n')).toBe(JSON.stringify(odd, null, 2));
    expect(lineAt(linesOf(odd), '/a~1b/1')).toBe(3);
  });

  it('may be of one of several changes', () => {
    expect(placeOf('/changes/2/nodes/0')).toEqual({ change: 2, pointer: '/nodes/0' });
    expect(placeOf('/nodes/0')).toEqual({ change: 0, pointer: '/nodes/0' });
  });
});

it('an operation is told with the node it is about, wherever that stands by then', () => {
  const doc = { kind: 'w', nodes: [{ id: 'a', n: 1 }, { id: 'b', branches: [{ next: 'a' }] }], tools: ['x'] };
  const ids = itemsOf(doc, [
    { op: 'add', path: '/nodes/0', value: { id: 'x' } },
    { op: 'replace', path: '/nodes/1/n', value: 2 },
    { op: 'test', path: '/nodes/0', value: { id: 'x' } },
    { op: 'replace', path: '/nodes/2/branches/0/next', value: 'x' },
    { op: 'move', from: '/nodes/2', path: '/nodes/0' },
    { op: 'remove', path: '/nodes/1' },
    { op: 'add', path: '/nodes/-', value: { id: 'z' } },
    { op: 'replace', path: '/nodes/2/n', value: 1 },
    { op: 'replace', path: '/tools/0', value: 'y' },
    { op: 'replace', path: '/title', value: 'y' },
  ]);
  expect(ids).toEqual(['', 'a', 'x', 'b', 'b', 'x', '', 'z', '', '']);
  expect(itemsOf(undefined, [{ op: 'remove', path: '/nodes/0' }])).toEqual(['']);
});
