// What may be written at a place, by the JSON Schema of the document: names of
// members that are not there yet, values of a list of values, ids of nodes.

import type { Spot } from './scan.ts';

type Form = Record<string, unknown>;

export interface Offer {
  label: string;
  apply: string; // what is written, with its quotes
  kind: 'member' | 'value' | 'node' | 'name';
  description: string;
}

/** Names that are no part of the schema: the nodes of this document, and the tools there are. */
export interface Known {
  nodes: readonly string[];
  tools: readonly string[];
  workflows: readonly string[];
}

const object = (value: unknown): value is Form => typeof value === 'object' && value !== null && !Array.isArray(value);
const forms = (value: unknown): Form[] => (Array.isArray(value) ? value.filter(object) : object(value) ? [value] : []);

/** Every part of the schema that speaks about the value at a path. */
export function formsAt(schema: Form, path: readonly string[]): Form[] {
  let found = widen(schema, schema, 0);
  for (const part of path) found = found.flatMap((form) => step(form, part)).flatMap((form) => widen(schema, form, 0));
  return found;
}

const deepest = 8; // of references that lead to references

/** A form with what it refers to and what it is made of. */
function widen(root: Form, form: Form, depth: number): Form[] {
  if (depth > deepest) return [];
  const parts = ['allOf', 'anyOf', 'oneOf', 'then', 'else'].flatMap((key) => forms(form[key]));
  const target = typeof form['$ref'] === 'string' ? resolve(root, form['$ref']) : null;
  return [form, ...[...parts, ...(target ? [target] : [])].flatMap((part) => widen(root, part, depth + 1))];
}

function resolve(root: Form, reference: string): Form | null {
  if (!reference.startsWith('#/')) return null;
  let at: unknown = root;
  for (const part of reference.slice(2).split('/')) at = object(at) ? at[part.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined;
  return object(at) ? at : null;
}

function step(form: Form, part: string): Form[] {
  const named = form['properties'];
  const own = object(named) ? named[part] : undefined;
  if (object(own)) return [own];
  if (/^\d+$/.test(part) && form['items'] !== undefined) return forms(form['items']);
  return forms(form['additionalProperties']);
}

/** What may stand at a spot, best first. */
export function offers(schema: Form, spot: Spot, known: Known): Offer[] {
  return spot.role === 'key' ? members(schema, spot) : values(schema, spot, known);
}

function members(schema: Form, spot: Spot): Offer[] {
  const found = new Map<string, Offer>();
  const needed = new Set<string>();
  for (const form of formsAt(schema, spot.path)) {
    for (const name of Array.isArray(form['required']) ? form['required'] : []) needed.add(String(name));
    for (const [name, member] of Object.entries(object(form['properties']) ? form['properties'] : {})) {
      if (found.has(name) || (spot.members.has(name) && name !== spot.typed) || !object(member)) continue;
      const quoted = JSON.stringify(name);
      found.set(name, { label: name, apply: spot.colon ? quoted : `${quoted}: ${opening(schema, member)}`, kind: 'member', description: text(member['description']) });
    }
  }
  return [...found.values()].toSorted((a, b) => Number(needed.has(b.label)) - Number(needed.has(a.label)));
}

/** How a value of a form begins, so that the next thing to write is what is in it. */
function opening(root: Form, member: Form): string {
  const types = widen(root, member, 0).map((form) => form['type']);
  if (types.includes('object')) return '{}';
  if (types.includes('array')) return '[]';
  return types.includes('string') ? '""' : '';
}

const leads = new Set(['next', 'on_error', 'on_cancel', 'entrypoint', 'body', 'stage']);

function values(schema: Form, spot: Spot, known: Known): Offer[] {
  const name = spot.path.at(-1) ?? '';
  const named = leads.has(name) ? known.nodes : name === 'tool' || spot.path.at(-2) === 'tools' ? known.tools : name === 'workflow' ? known.workflows : [];
  const found = new Map<string, Offer>();
  for (const one of named) found.set(one, { label: one, apply: JSON.stringify(one), kind: leads.has(name) ? 'node' : 'name', description: '' });
  for (const form of formsAt(schema, spot.path)) {
    for (const value of valuesOf(form)) {
      const label = typeof value === 'string' ? value : JSON.stringify(value);
      if (!found.has(label)) found.set(label, { label, apply: JSON.stringify(value), kind: 'value', description: text(form['description']) });
    }
  }
  return [...found.values()];
}

function valuesOf(form: Form): unknown[] {
  if ('const' in form) return [form['const']];
  if (Array.isArray(form['enum'])) return form['enum'];
  if (form['type'] === 'boolean') return [true, false];
  return 'default' in form ? [form['default']] : [];
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
