// What a change does to a graph, and where in a document a pointer leads.

import type { Operation } from '../api/changes.ts';

interface GraphNode {
  id?: unknown;
}

function nodesOf(doc: unknown): Map<string, string> {
  const nodes = (doc as { nodes?: unknown } | null | undefined)?.nodes;
  const found = new Map<string, string>();
  if (!Array.isArray(nodes)) return found;
  for (const node of nodes as GraphNode[]) if (typeof node?.id === 'string') found.set(node.id, canonical(node));
  return found;
}

/** The nodes a change alters, adds and removes. */
export function touched(before: unknown, after: unknown): { changed: Set<string>; removed: string[] } {
  const [was, is] = [nodesOf(before), nodesOf(after)];
  const changed = new Set([...is].filter(([id, text]) => was.get(id) !== text).map(([id]) => id));
  return { changed, removed: [...was.keys()].filter((id) => !is.has(id)) };
}

/** The same text for the same value, whatever order its members came in. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    part && typeof part === 'object' && !Array.isArray(part) ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1))) : part,
  );
}

/**
 * The id of the node, or other item with an id, that each operation is about,
 * wherever those before it have put that; empty where there is none.
 */
export function itemsOf(before: unknown, operations: Operation[]): string[] {
  const idOf = (item: unknown) => String((item as { id?: unknown } | null | undefined)?.id ?? '');
  const lists = new Map<string, string[]>();
  for (const [name, list] of Object.entries((before ?? {}) as object)) if (Array.isArray(list)) lists.set(name, list.map(idOf));
  const place = (pointer: string) => {
    const [, name = '', at = '', deeper] = /^\/([^/]+)\/(\d+|-)(\/.*)?$/.exec(pointer) ?? [];
    const ids = lists.get(name) ?? [];
    return { ids, at: at === '-' ? ids.length : Number(at), whole: at !== '' && deeper === undefined };
  };
  return operations.map((one) => {
    const [from, to] = [place(one.from ?? one.path), place(one.path)];
    const id = one.op === 'add' && to.whole ? '' : (from.ids[from.at] ?? '');
    if (one.op === 'move' && from.whole) from.ids.splice(from.at, 1);
    if (!to.whole) return id;
    if (one.op === 'remove') to.ids.splice(to.at, 1);
    else if (one.op === 'replace') to.ids[to.at] = idOf(one.value);
    else if (one.op !== 'test') to.ids.splice(to.at, 0, one.op === 'add' ? idOf(one.value) : id);
    return id;
  });
}

export interface Line {
  text: string;
  pointer: string; // of the member or element that begins on it
}

/** A document as indented lines, each with the JSON pointer of what begins on it. */
export function linesOf(value: unknown): Line[] {
  const lines: Line[] = [];
  write(value, '', '', '', '', lines);
  return lines;
}

function write(value: unknown, pointer: string, indent: string, lead: string, tail: string, lines: Line[]): void {
  const list = Array.isArray(value);
  const entries: [string, unknown][] = list
    ? value.map((part, index): [string, unknown] => [String(index), part])
    : value && typeof value === 'object'
      ? Object.entries(value)
      : [];
  if (entries.length === 0) {
    lines.push({ text: `${indent}${lead}${JSON.stringify(value) ?? 'null'}${tail}`, pointer });
    return;
  }
  lines.push({ text: `${indent}${lead}${list ? '[' : '{'}`, pointer });
  entries.forEach(([name, part], index) => {
    const comma = index < entries.length - 1 ? ',' : '';
    write(part, `${pointer}/${escaped(name)}`, `${indent}  `, list ? '' : `${JSON.stringify(name)}: `, comma, lines);
  });
  lines.push({ text: `${indent}${list ? ']' : '}'}${tail}`, pointer: '' });
}

function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** The line a pointer leads to, or the nearest above it that is there. */
export function lineAt(lines: Line[], pointer: string): number {
  for (let path = pointer; path; path = path.slice(0, path.lastIndexOf('/'))) {
    const at = lines.findIndex((line) => line.pointer === path);
    if (at >= 0) return at;
  }
  return 0;
}

/** The change of a set a problem is about, and its place in that document. */
export function placeOf(path: string): { change: number; pointer: string } {
  const found = /^\/changes\/(\d+)(\/.*)?$/.exec(path);
  return found ? { change: Number(found[1]), pointer: found[2] ?? '' } : { change: 0, pointer: path };
}
