// What a workflow.chat document says, as nodes and the ways between them. The
// rule for a missing next is the engine's own (C-21, graph.go `after`): a
// tool_call directly followed in the list by a switch goes to it; every other
// node without next ends there.

export type EdgeKind = 'next' | 'branch' | 'each' | 'cancel' | 'error';

export interface Node {
  id: string;
  type: string; // '' for what a document names and does not have
  detail: string; // the tool, the workflow, or what else it works on
  when: string;
  conditions: string[]; // of a switch or a parallel, in the order they are asked
  entry: boolean;
  ends: boolean; // control stops here
  reached: boolean;
}

export interface Edge {
  from: string;
  to: string;
  way: EdgeKind;
  numbers: number[]; // of the branches that lead this way
}

/** Something a person should know of the document without following lines. */
export interface Flaw {
  kind: 'dangling' | 'unreached' | 'entry';
  node: string;
  to: string;
}

export interface Sketch {
  nodes: Node[];
  edges: Edge[];
  flaws: Flaw[];
}

type Json = Record<string, unknown>;

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const list = (value: unknown): Json[] => (Array.isArray(value) ? value.filter((one): one is Json => typeof one === 'object' && one !== null && !Array.isArray(one)) : []);

/** Reads as much as there is: a document somebody is still writing has gaps. */
export function read(doc: unknown): Sketch {
  const source = (typeof doc === 'object' && doc !== null ? doc : {}) as Json;
  const raw = list(source['nodes']).filter((one) => text(one['id']) !== '');
  const known = new Map<string, Json>();
  for (const one of raw) if (!known.has(text(one['id']))) known.set(text(one['id']), one);
  const unique = [...known.values()];
  const edges = unique.flatMap((one, at) => waysOf(one, unique[at + 1]));
  const entry = text(source['entrypoint']);
  const reached = reach(entry, edges);
  const missing = [...new Set(edges.map((edge) => edge.to).filter((to) => !known.has(to)))];
  const nodes = unique.map((one) => nodeOf(one, edges, entry, reached));
  return {
    nodes: [...nodes, ...missing.map((id) => absent(id, reached))],
    edges,
    flaws: flawsOf(nodes, edges, new Set(missing), entry, known.has(entry)),
  };
}

function nodeOf(one: Json, edges: Edge[], entry: string, reached: Set<string>): Node {
  const id = text(one['id']);
  const type = text(one['type']);
  return {
    id,
    type,
    detail: detailOf(type, one),
    when: text(one['when']),
    conditions: type === 'switch' || type === 'parallel' ? list(one['branches']).map((branch) => text(branch['when'])) : [],
    entry: id === entry,
    ends: type === 'end' || (type !== 'switch' && !edges.some((edge) => edge.from === id && edge.way === 'next')),
    reached: reached.has(id),
  };
}

function absent(id: string, reached: Set<string>): Node {
  return { id, type: '', detail: '', when: '', conditions: [], entry: false, ends: false, reached: reached.has(id) };
}

function detailOf(type: string, one: Json): string {
  switch (type) {
    case 'tool_call':
      return text(one['tool']);
    case 'workflow':
      return text(one['workflow']);
    case 'interrupt':
      return text(one['interrupt_type']);
    case 'map':
      return text(one['over']);
    case 'agent':
      return text(one['model']);
    case 'set':
      return Object.keys((one['values'] ?? {}) as Json).join(', ');
    default:
      return '';
  }
}

/** The ways control may take from a node, as the engine knows them. */
function waysOf(one: Json, following: Json | undefined): Edge[] {
  const from = text(one['id']);
  const type = text(one['type']);
  const edges: Edge[] = [];
  const add = (to: string, way: EdgeKind, number = 0) => {
    if (to === '') return;
    const same = number > 0 ? edges.find((edge) => edge.way === way && edge.to === to) : undefined;
    if (same) same.numbers.push(number);
    else edges.push({ from, to, way, numbers: number > 0 ? [number] : [] });
  };
  if (type === 'switch' || type === 'parallel') list(one['branches']).forEach((branch, at) => add(text(branch['next']), 'branch', at + 1));
  if (type === 'map') add(text(one['body']), 'each');
  add(after(one, following), 'next');
  if (type === 'interrupt') add(text(one['on_cancel']), 'cancel');
  add(text(one['on_error']), 'error');
  return edges;
}

/** The node that follows when a node is done; '' when the run ends there. */
function after(one: Json, following: Json | undefined): string {
  const type = text(one['type']);
  if (type === 'end' || type === 'switch') return '';
  const next = text(one['next']);
  if (next !== '') return next;
  return type === 'tool_call' && following && text(following['type']) === 'switch' ? text(following['id']) : '';
}

function reach(entry: string, edges: Edge[]): Set<string> {
  const seen = new Set<string>();
  const queue = [entry];
  for (let id = queue.pop(); id !== undefined; id = queue.pop()) {
    if (seen.has(id)) continue;
    seen.add(id);
    for (const edge of edges) if (edge.from === id) queue.push(edge.to);
  }
  return seen;
}

function flawsOf(nodes: Node[], edges: Edge[], missing: Set<string>, entry: string, hasEntry: boolean): Flaw[] {
  const dangling = edges.filter((edge) => missing.has(edge.to)).map((edge): Flaw => ({ kind: 'dangling', node: edge.from, to: edge.to }));
  if (nodes.length > 0 && !hasEntry) return [{ kind: 'entry', node: '', to: entry }, ...dangling];
  return [...dangling, ...nodes.filter((node) => !node.reached).map((node): Flaw => ({ kind: 'unreached', node: node.id, to: '' }))];
}

/** Whether a document is a graph that can be drawn. */
export function drawable(doc: unknown): boolean {
  return typeof doc === 'object' && doc !== null && Array.isArray((doc as Json)['nodes']) && list((doc as Json)['nodes']).some((one) => text(one['id']) !== '');
}
