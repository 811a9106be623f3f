import { expect, it } from 'vitest';
import { print, tidy } from './print.ts';

it('is the same value, in an order that tells', () => {
  const value = { nodes: [{ next: 'b', type: 'switch', id: 'a', zeta: 1, branches: [{ next: 'b', when: 'true' }] }], kind: 'workflow.chat', entrypoint: 'a', empty: [], none: null };
  expect(JSON.parse(print(value))).toEqual(value);
  expect(print(value)).toBe(`{
  "kind": "workflow.chat",
  "entrypoint": "a",
  "empty": [],
  "none": null,
  "nodes": [
    {
      "id": "a",
      "type": "switch",
      "zeta": 1,
      "branches": [
        { "when": "true", "next": "b" }
      ],
      "next": "b"
    }
  ]
}`);
});

it('writes the same text whatever the order was', () => {
  expect(print({ b: 1, a: { d: 1, c: [{ y: 1, x: 2 }] } })).toBe(print({ a: { c: [{ x: 2, y: 1 }], d: 1 }, b: 1 }));
  expect(Object.keys(tidy({ next: 1, x: 1, id: 1 }) as object)).toEqual(['id', 'x', 'next']);
});

it('breaks what is too long for a line', () => {
  const long = { outputs: Array.from({ length: 20 }, (_, at) => `output${at}`) };
  expect(print(long).split('\n').every((line) => line.length <= 92)).toBe(true);
  expect(print({ when: 'x'.repeat(200) }).split('\n')).toHaveLength(3);
});
