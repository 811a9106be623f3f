import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { offers } from './complete.ts';
import { spotAt } from './scan.ts';

const form = (kind: string) => JSON.parse(readFileSync(join(import.meta.dirname, `../../../schemas/${kind}.json`), 'utf8')) as Record<string, unknown>;
const known = { nodes: ['a', 'b'], tools: ['rag.search_v1'], workflows: ['assistant'] };

function offered(kind: string, text: string) {
  const cursor = text.indexOf('|');
  const spot = spotAt(text.replace('|', ''), cursor);
  return spot ? offers(form(kind), spot, known) : [];
}
const labels = (kind: string, text: string) => offered(kind, text).map((one) => one.label);

describe('completion', () => {
  it('offers the members that are not there yet, needed ones first', () => {
    const found = labels('workflow.chat', '{"kind": "workflow.chat", "|"}');
    expect(found).not.toContain('kind');
    expect(found.slice(0, 2).toSorted()).toEqual(['entrypoint', 'nodes']);
    expect(labels('workflow.chat', '{"nodes": [{"id": "x", "|"}]}')).toEqual(expect.arrayContaining(['type', 'on_error', 'branches']));
  });

  it('says what a member is for, and writes how its value begins', () => {
    const quiet = offered('workflow.chat', '{"nodes": [{"|"}]}');
    expect(quiet.find((one) => one.label === 'branches')).toMatchObject({ apply: '"branches": []', kind: 'member' });
    expect(quiet.find((one) => one.label === 'id')!.description).toContain('unique');
    expect(offered('workflow.chat', '{"nodes": [{"i|": 1}]}').find((one) => one.label === 'id')!.apply).toBe('"id"');
  });

  it('offers the values there are', () => {
    expect(labels('workflow.chat', '{"nodes": [{"type": "|"}]}')).toContain('interrupt');
    expect(labels('workflow.chat', '{"kind": "|"}')).toEqual(['workflow.chat']);
    expect(labels('workflow.chat', '{"nodes": [{"quiet": |}]}')).toEqual(['true', 'false']);
  });

  it('offers nodes where a node is named, and tools where a tool is', () => {
    expect(labels('workflow.chat', '{"nodes": [{"next": "|"}]}')).toEqual(['a', 'b']);
    expect(labels('workflow.chat', '{"nodes": [{"branches": [{"next": "|"}]}]}')).toEqual(['a', 'b']);
    expect(labels('workflow.chat', '{"nodes": [{"tool": "|"}]}')).toEqual(['rag.search_v1']);
    expect(labels('workflow.chat', '{"tools": ["|"]}')).toEqual(['rag.search_v1']);
  });

  it('follows references and alternatives in every schema', () => {
    expect(labels('policy.routing', '{"|"}').length).toBeGreaterThan(1);
    expect(labels('policy.routing', '{"rules": [{"|"}]}')).toEqual(expect.arrayContaining(['id', 'when']));
    expect(labels('tool.spec', '{"|"}').length).toBeGreaterThan(3);
    expect(labels('adapter.lora', '{"|"}').length).toBeGreaterThan(3);
    expect(labels('policy.models', '{"|"}').length).toBeGreaterThan(1);
  });
});
