// What a JSON Schema asks a person for, as the fields of a form. A schema is
// written by whoever wrote a workflow, so nothing here counts on its shape: what
// cannot be drawn as a field is filled in as JSON, and the server, which knows
// all of the schema, has the last word.

import type { JsonSchema } from '../api/types.ts';
import { read, record } from './schema.ts';

export type FieldKind = 'text' | 'long' | 'number' | 'integer' | 'boolean' | 'choice' | 'many' | 'date' | 'lines' | 'group' | 'json';

export interface Choice {
  value: unknown;
  label: string;
}

export interface Field {
  /** A JSON pointer into the answer: the server names what is wrong by it. */
  path: string;
  name: string;
  kind: FieldKind;
  title: string;
  description: string;
  required: boolean;
  /** Of a choice, and of several of a list. */
  choices: Choice[];
  /** Of a group. */
  fields: Field[];
  /** The value it begins with; undefined: none. */
  initial: unknown;
  min?: number | undefined;
  max?: number | undefined;
  minLength?: number | undefined;
  maxLength?: number | undefined;
}

const long = 200; // characters from which on a text has more than a line

/** The fields that a schema asks for: those of an object, or one for the whole answer. */
export function fieldsOf(schema: JsonSchema): Field[] {
  const whole = fieldOf(schema, schema, '', '', true, 0);
  return whole.kind === 'group' ? whole.fields : [whole];
}

/**
 * The form of a question before a tool is called, without the decision, which is two buttons: what stands in
 * it is the call. null for any other form.
 */
export function approvalOf(schema: JsonSchema): JsonSchema | null {
  if (typeof record(schema['x-call'])['tool'] !== 'string') return null;
  const { if: _when, then, properties, ...rest } = schema as JsonSchema & { if?: unknown; then?: unknown };
  const { decision: _decision, ...fields } = record(properties);
  const needed = record(then)['required'];
  return { ...rest, properties: fields as Record<string, JsonSchema>, required: (Array.isArray(needed) ? needed : []).map(String).filter((name) => name !== 'decision') };
}

function fieldOf(schema: JsonSchema, root: JsonSchema, path: string, name: string, required: boolean, depth: number): Field {
  const { own, type } = read(schema, root);
  const choices = choicesOf(own);
  const field: Field = {
    path,
    name,
    kind: 'json',
    title: text(own.title) || name,
    description: text(own.description),
    required,
    choices,
    fields: [],
    initial: own.default,
    min: lowest(own, type),
    max: highest(own, type),
    minLength: number(own['minLength']),
    maxLength: number(own['maxLength']),
  };
  if (choices.length > 0) return { ...field, kind: 'choice' };
  switch (type) {
    case 'boolean':
    case 'number':
    case 'integer':
      return { ...field, kind: type };
    case 'string':
      return { ...field, kind: textKind(own, field) };
    case 'array':
      return { ...field, ...listKind(own, root) };
    case 'object':
      return drawable(own, depth) ? { ...field, kind: 'group', fields: members(own, root, path, depth) } : field;
    default:
      return field;
  }
}

function textKind(own: JsonSchema, { maxLength }: Field): FieldKind {
  if (own.format === 'date') return 'date';
  return own.format === 'textarea' || (maxLength ?? 0) > long ? 'long' : 'text';
}

/** Several of a list, a text a line, or JSON. */
function listKind(own: JsonSchema, root: JsonSchema): Pick<Field, 'kind' | 'choices' | 'minLength' | 'maxLength'> {
  const bounds = { minLength: number(own['minItems']), maxLength: number(own['maxItems']) };
  if (own.items === null || typeof own.items !== 'object' || Array.isArray(own.items)) return { kind: 'json', choices: [], ...bounds };
  const { own: item, type } = read(own.items as JsonSchema, root);
  const choices = choicesOf(item);
  if (choices.length > 0) return { kind: 'many', choices, ...bounds };
  return { kind: type === 'string' ? 'lines' : 'json', choices, ...bounds };
}

/** Whether fields can say all that an object may have to hold: of an object within a group they cannot. */
function drawable(own: JsonSchema, depth: number): boolean {
  const properties = Object.keys(record(own.properties));
  const required = Array.isArray(own.required) ? own.required : [];
  const beyond = ['oneOf', 'anyOf', 'allOf', 'not', 'if', 'patternProperties', 'dependencies'].some((keyword) => keyword in own);
  return depth < 2 && properties.length > 0 && !beyond && required.every((name) => properties.includes(String(name)));
}

/** The fields of an object: in the order of x-order, of required, and of their names. */
function members(own: JsonSchema, root: JsonSchema, path: string, depth: number): Field[] {
  const properties = record(own.properties) as Record<string, JsonSchema>;
  const required = (Array.isArray(own.required) ? own.required : []).map(String);
  const wanted = Array.isArray(own['x-order']) ? own['x-order'].map(String) : [];
  const names = new Set([...wanted, ...required, ...Object.keys(properties).toSorted()]);
  return [...names]
    .filter((name) => name in properties)
    .map((name) => fieldOf(record(properties[name]), root, `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`, name, required.includes(name), depth + 1));
}

function choicesOf(own: JsonSchema): Choice[] {
  if (Array.isArray(own['enum'])) return own['enum'].filter((value) => value !== null).map((value) => ({ value, label: labelOf(value) }));
  const named = own['oneOf'] ?? own['anyOf'];
  if (!Array.isArray(named) || named.length === 0) return [];
  const choices = named.map((one) => record(one)).filter((one) => 'const' in one);
  return choices.length === named.length ? choices.map((one) => ({ value: one['const'], label: text(one.title) || labelOf(one['const']) })) : [];
}

function labelOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function lowest(own: JsonSchema, type: string): number | undefined {
  const above = number(own['exclusiveMinimum']);
  return above !== undefined && type === 'integer' ? Math.floor(above) + 1 : number(own['minimum']);
}

function highest(own: JsonSchema, type: string): number | undefined {
  const below = number(own['exclusiveMaximum']);
  return below !== undefined && type === 'integer' ? Math.ceil(below) - 1 : number(own['maximum']);
}

function number(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

function text(value: unknown): string {
  return typeof value === 'string' ? value.trim() : '';
}
