import { describe, expect, it } from 'vitest';
import { fold, rowsOf, slide, type Row } from './lines.ts';

const nodes = (...ids: string[]) => ({ nodes: ids.map((id) => ({ id, type: 'tool_call', inputs: { message: '${input.message}' } })) });
const said = (rows: Row[]) => rows.filter((row) => row.sign !== ' ').map((row) => `${row.sign}${row.pieces.map((piece) => piece.text).join('')}`);
const sides = (rows: Row[], sign: '+' | '-') => rows.filter((row) => row.sign !== sign).map((row) => row.pieces.map((piece) => piece.text).join('')).join('\n');

describe('what changes', () => {
  it('is nothing where only the order of members differs', () => {
    expect(said(rowsOf({ a: 1, b: { c: 1, d: 2 } }, { b: { d: 2, c: 1 }, a: 1 }))).toEqual([]);
  });

  it('leaves out commas that only follow from what was added', () => {
    expect(said(rowsOf({ list: ['a', { x: {} }] }, { list: ['a', { x: {} }, { y: [{ z: 1 }] }] })).some((line) => line.startsWith('-'))).toBe(false);
  });

  it('marks the words that changed in a line', () => {
    const rows = rowsOf({ timeout_ms: 60000, tool: 'x' }, { timeout_ms: 45000, tool: 'x' });
    const changed = rows.flatMap((row) => row.pieces.filter((piece) => piece.changed).map((piece) => piece.text));
    expect(changed).toEqual(['60000', '45000']);
  });

  it('shows a whole object, not the end of one and the beginning of the next', () => {
    const rows = rowsOf(nodes('a', 'c'), nodes('a', 'b', 'c'));
    expect(said(rows).map((line) => line.slice(1).trim()).at(0)).toMatch(/^\{/);
    expect(said(rows).map((line) => line.slice(1).trim()).at(-1)).toMatch(/\},?$/);
  });

  it('compares a node with the one of its id, and not with what stands in its place', () => {
    const node = (id: string, more: object = {}) => ({ id, type: 'tool_call', tool: 'echo', inputs: { message: '${input.message}', more: [id] }, ...more });
    const whole = (id: string) => rowsOf(undefined, { nodes: [node('z'), node(id)] }).filter((row) => row.after > 0).map((row) => row.pieces[0]!.text.replace(/,$/, '').trim());
    const rows = said(rowsOf({ nodes: [node('a'), node('b'), node('c')] }, { nodes: [node('a'), node('x'), node('c', { tool: 'other' })] })).map((line) => `${line[0]}${line.slice(1).replace(/,$/, '').trim()}`);
    const one = whole('b').slice(whole('b').indexOf('"id": "b"') - 1, -2);
    expect(one[0]).toBe('{');
    expect(rows.filter((line) => line.startsWith('-')).map((line) => line.slice(1))).toEqual([...one, '"tool": "echo"']);
    expect(rows.filter((line) => line.startsWith('+')).map((line) => line.slice(1))).toEqual([...one.map((line) => line.replace('"b"', '"x"')), '"tool": "other"']);
  });

  it('keeps the lines of both sides, whatever they are', () => {
    const values = [undefined, null, 1, 'a', [], {}, [1, [2, [3]]], nodes('a'), nodes('b', 'a'), nodes('a', 'b', 'c'), nodes('c', 'x', 'a'), { kind: 'w', nodes: nodes('a', 'b').nodes, rules: nodes('r').nodes, z: 1 }, { nodes: nodes('b').nodes, rules: nodes('s', 'r').nodes }, { a: { b: { c: [nodes('x')] } } }, { a: 'line\nline' }];
    for (const before of values)
      for (const after of values) {
        const rows = rowsOf(before, after);
        expect(rows.filter((row) => row.sign !== '+').map((row) => row.before)).toEqual(Array.from({ length: rows.filter((row) => row.sign !== '+').length }, (_, at) => at + 1));
        const own = (value: unknown) => rowsOf(value, value).map((row) => row.pieces[0]!.text.replace(/,$/, '')).join('\n');
        expect(sides(rows, '+').replaceAll(/,$/gm, '')).toBe(own(before));
        expect(sides(rows, '-').replaceAll(/,$/gm, '')).toBe(own(after));
      }
  });
});

it('slides a change to where something begins', () => {
  const lines = ['{', '  a', '},', '{', '  b', '},'].map((text, at) => ({ text, sign: at >= 2 && at <= 4 ? ('+' as const) : (' ' as const) }));
  lines[4]!.text = '  a'; // `}, { a` reads the same as `{ a },`
  expect(slide(lines).map((line) => line.sign).join('')).toBe('+++   ');
});

it('folds what is far from every change, and nothing that is short', () => {
  const rows = rowsOf({ list: Array.from({ length: 30 }, (_, at) => [[at]]) }, { list: Array.from({ length: 30 }, (_, at) => [[at === 15 ? 99 : at]]) });
  const blocks = fold(rows);
  expect(blocks.map((block) => block.kind)).toEqual(['fold', 'rows', 'fold']);
  expect(blocks.flatMap((block) => block.rows)).toEqual(rows);
  expect(fold(rowsOf({ a: 1 }, { a: 2 })).every((block) => block.kind === 'rows')).toBe(true);
});
