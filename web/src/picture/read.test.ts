import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { layout } from './layout.ts';
import { drawable, read } from './read.ts';

const root = join(import.meta.dirname, '../../../artifacts');
const load = (path: string): unknown => JSON.parse(readFileSync(join(root, path), 'utf8'));
const ways = (doc: unknown) => read(doc).edges.map((edge) => `${edge.from} ${edge.way}${edge.numbers.join(',')} ${edge.to}`);

describe('the way from node to node', () => {
  it('goes from a tool_call without next to a switch that follows at once, and nowhere else (C-21)', () => {
    const nodes = [
      { id: 'a', type: 'tool_call' },
      { id: 'b', type: 'switch', branches: [{ when: 'true', next: 'c' }] },
      { id: 'c', type: 'tool_call' },
      { id: 'd', type: 'set' },
      { id: 'e', type: 'switch', next: 'a', branches: [] },
    ];
    expect(ways({ entrypoint: 'a', nodes })).toEqual(['a next b', 'b branch1 c']);
    expect(read({ entrypoint: 'a', nodes }).nodes.map((node) => node.ends)).toEqual([false, false, true, true, false]);
  });

  it('knows every node type', () => {
    expect(ways(load('testdata/workflow.chat/good/parallel_then_join.json'))).toEqual(['both branch1 a', 'both branch2 b', 'both next done']);
    expect(ways(load('testdata/workflow.chat/good/map_over_documents.json'))).toEqual(['find next each', 'each each read', 'each next done']);
    expect(ways(load('testdata/workflow.chat/good/ask_and_go_on.json'))).toEqual(['ask next go', 'ask cancel stop', 'go branch1 a', 'go branch2 stop']);
    expect(ways({ nodes: [{ id: 'w', type: 'workflow', on_error: 'x', next: 'y' }] })).toEqual(['w next y', 'w error x']);
  });

  it('gives branches that lead to one node one line with both numbers', () => {
    const branches = [{ next: 'x' }, { next: 'y' }, { next: 'x' }];
    expect(ways({ nodes: [{ id: 's', type: 'switch', branches }] })).toEqual(['s branch1,3 x', 's branch2 y']);
  });
});

describe('what is wrong with a graph', () => {
  it('is named: what nothing leads to, and what leads nowhere', () => {
    const nodes = [
      { id: 'a', type: 'tool_call', next: 'gone' },
      { id: 'b', type: 'end' },
    ];
    const sketch = read({ entrypoint: 'a', nodes });
    expect(sketch.flaws).toEqual([
      { kind: 'dangling', node: 'a', to: 'gone' },
      { kind: 'unreached', node: 'b', to: '' },
    ]);
    expect(sketch.nodes.at(-1)).toMatchObject({ id: 'gone', type: '', reached: true });
    expect(read({ entrypoint: 'q', nodes }).flaws[0]).toEqual({ kind: 'entry', node: '', to: 'q' });
  });

  it('never breaks the picture: a document half written has gaps', () => {
    for (const doc of [null, 3, {}, { nodes: 1 }, { nodes: [null, 3, {}, { id: 7 }] }, { nodes: [{ id: 'a' }, { id: 'a' }, { id: 'b', type: 'switch', branches: [null, { next: 4 }] }] }])
      expect(() => layout(read(doc), () => '')).not.toThrow();
    expect([drawable({ nodes: [{ id: 'a' }] }), drawable({ nodes: [] }), drawable(null)]).toEqual([true, false, false]);
  });
});

describe('the defaults', () => {
  const folders = ['defaults/workflow.chat', 'packs/documents/workflow.chat'];
  const files = folders.flatMap((folder) => readdirSync(join(root, folder)).map((name) => join(folder, name)));
  it.each(files)('%s has no flaw, and no two nodes overlap', (file) => {
    const sketch = read(load(file));
    expect(sketch.flaws).toEqual([]);
    const { boxes, width, height } = layout(sketch, (node) => node.detail);
    // One comparison at the end: there are thousands of pairs.
    const wrong: string[] = [];
    for (const [at, a] of boxes.entries()) {
      if (a.x < 0 || a.y < 0 || a.x + a.width > width || a.y + a.height > height) wrong.push(`${a.node.id} is outside`);
      for (const b of boxes.slice(at + 1)) {
        const apart = a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;
        if (!apart) wrong.push(`${a.node.id} is over ${b.node.id}`);
      }
    }
    expect(wrong).toEqual([]);
  });
});
