// What of a JSON Schema the conversation must know before a form is drawn.

import type { JsonSchema } from '../api/types.ts';

/** Words of one's own in the box for messages are an answer, or one of a few buttons is. */
export function isPlain(schema: JsonSchema | null | undefined): boolean {
  const { own, type } = read(schema ?? {}, schema ?? {});
  if ('enum' in own || 'const' in own) return false;
  if (type === 'string') return own.format !== 'date';
  if (type === '') return !['properties', 'oneOf', 'anyOf', 'allOf', 'items', 'not', 'if', '$ref'].some((keyword) => keyword in own);
  return type === 'number' || type === 'integer' || type === 'boolean';
}

/** Any text is an answer. */
export function isText(schema: JsonSchema | null | undefined): boolean {
  const { type } = read(schema ?? {}, schema ?? {});
  return isPlain(schema) && (type === 'string' || type === '');
}

/** A schema with what it refers to in itself, and its type: of several the first that is not null. */
export function read(schema: JsonSchema, root: JsonSchema): { own: JsonSchema; type: string } {
  let own = record(schema);
  for (let hops = 0; hops < 8 && typeof own['$ref'] === 'string'; hops++) {
    const { $ref: reference, ...beside } = own;
    const found = at(root, String(reference));
    if (!found) break;
    own = { ...beside, ...found };
    if (!('$ref' in found)) break;
  }
  const types = Array.isArray(own.type) ? own.type : [own.type];
  const type = types.find((one) => typeof one === 'string' && one !== 'null') ?? ('properties' in own ? 'object' : '');
  return { own, type: String(type) };
}

function at(root: JsonSchema, reference: string): JsonSchema | null {
  if (!reference.startsWith('#/')) return null;
  let here: unknown = root;
  for (const token of reference.slice(2).split('/')) here = record(here)[token.replaceAll('~1', '/').replaceAll('~0', '~')];
  return here !== null && typeof here === 'object' ? (here as JsonSchema) : null;
}

export function record(value: unknown): JsonSchema {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as JsonSchema) : {};
}
