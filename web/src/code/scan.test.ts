import { describe, expect, it } from 'vitest';
import { placeOf, places, spotAt } from './scan.ts';

/** The spot at the bar in a text. */
function at(text: string) {
  const cursor = text.indexOf('|');
  return spotAt(text.replace('|', ''), cursor);
}

describe('places', () => {
  const text = '{ "a": [1, {"b/c": "x"}], "d": null }';
  const found = places(text);
  const cut = (pointer: string) => text.slice(found.get(pointer)!.from, found.get(pointer)!.to);
  it('gives every value its letters, with its name', () => {
    expect(cut('')).toBe(text);
    expect(cut('/a')).toBe('"a": [1, {"b/c": "x"}]');
    expect(cut('/a/0')).toBe('1');
    expect(cut('/a/1/b~1c')).toBe('"b/c": "x"');
    expect(cut('/d')).toBe('"d": null');
  });

  it('leads to the nearest thing around one that is not there', () => {
    expect(placeOf(found, '/a/1/next/x')).toEqual(found.get('/a/1'));
    expect(placeOf(found, '/q')).toEqual({ from: 0, to: 1 });
  });

  it('reads what is not finished', () => {
    expect([...places('{"a": [1, {"b": 2').keys()].toSorted()).toEqual(['', '/a', '/a/0', '/a/1', '/a/1/b']);
    for (const broken of ['', '}', '"', '{"a', ']]', '{"a": tru', '{{}', ':::,,']) expect(() => places(broken)).not.toThrow();
  });
});

describe('the spot at the cursor', () => {
  it('knows a name from a value', () => {
    expect(at('{"kind": "x", "|"}')).toMatchObject({ role: 'key', path: [], typed: '', quoted: true });
    expect(at('{"nodes": [{"id": "a", "ty|"')).toMatchObject({ role: 'key', path: ['nodes', '0'], typed: 'ty' });
    expect(at('{"nodes": [{"id": "a"}, {"type": "to|"}]}')).toMatchObject({ role: 'value', path: ['nodes', '1', 'type'], typed: 'to', quoted: true });
    expect(at('{"a": |}')).toMatchObject({ role: 'value', path: ['a'], quoted: false });
    expect(at('{"a": tr|}')).toMatchObject({ role: 'value', path: ['a'], typed: 'tr', quoted: false });
    expect(at('{"tools": ["a", "r|"]}')).toMatchObject({ role: 'value', path: ['tools', '1'] });
    expect(at('|')).toBeNull();
  });

  it('knows the members of the object, also those behind it', () => {
    expect([...at('{"a": 1, "|", "b": {"c": 1}, "d": 2}')!.members.keys()]).toEqual(['a', '', 'b', 'd']);
    expect(at('{"type": "switch", "|"}')!.members.get('type')).toBe('switch');
  });

  it('says whether a colon is there already, and is silent behind a string', () => {
    expect(at('{"k|": 1}')!.colon).toBe(true);
    expect(at('{"k|", "b": 1}')!.colon).toBe(false);
    expect(at('{"a": "x"|}')).toBeNull();
  });
});
