// Reading an OpenAPI 3.1 document as pages of a reference: operations in
// groups, types as one would write them, examples and a line for curl.

export interface Schema {
  $ref?: string;
  type?: string | string[];
  description?: string;
  enum?: unknown[];
  format?: string;
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  'x-event-kinds'?: string[];
}

interface Media {
  schema?: Schema;
}

export interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema: Schema;
}

interface RawOperation {
  operationId: string;
  summary?: string;
  description?: string;
  tags?: string[];
  parameters?: Parameter[];
  requestBody?: { required?: boolean; content: Record<string, Media> };
  responses: Record<string, { description?: string; content?: Record<string, Media> }>;
  security?: unknown[];
}

export interface ApiDocument {
  info: { title: string; version: string; description?: string };
  paths: Record<string, Record<string, RawOperation>>;
  components: { schemas: Record<string, Schema> };
}

/** What an operation answers when all is well, in one of its forms. */
export interface Answer {
  status: string;
  type: string;
  description: string;
  schema: Schema;
  /** The schema is of the data in the envelope. */
  enveloped: boolean;
}

export interface Operation {
  id: string;
  method: string;
  path: string;
  summary: string;
  group: string;
  signedIn: boolean;
  parameters: Parameter[];
  body: { type: string; required: boolean; schema: Schema } | null;
  answers: Answer[];
  /** The statuses it fails with. */
  failures: string[];
  /** The kinds of event of its stream. */
  events: string[];
}

export interface Group {
  name: string;
  operations: Operation[];
}

export interface Reference {
  version: string;
  groups: Group[];
  schemas: Record<string, Schema>;
}

// In the order in which somebody new needs them; what is not named comes behind.
const order = ['auth', 'chat', 'conversations', 'interrupts', 'runs', 'contexts', 'documents', 'document-sets', 'files', 'preferences', 'settings', 'artifacts', 'schemas', 'config', 'workflows', 'tools', 'usage', 'insights', 'users', 'health'];
const verbs = ['get', 'post', 'put', 'patch', 'delete'];

export function read(document: ApiDocument): Reference {
  const schemas = document.components.schemas;
  const groups = new Map<string, Operation[]>();
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, raw] of Object.entries(methods)) {
      const operation = operationOf(method, path, raw, schemas);
      groups.set(operation.group, [...(groups.get(operation.group) ?? []), operation]);
    }
  }
  const place = (name: string) => (order.indexOf(name) + order.length + 1) % (order.length + 1);
  return {
    version: document.info.version,
    schemas,
    groups: [...groups]
      .map(([name, operations]) => ({ name, operations: operations.toSorted((a, b) => a.path.localeCompare(b.path) || verbs.indexOf(a.method.toLowerCase()) - verbs.indexOf(b.method.toLowerCase())) }))
      .toSorted((a, b) => place(a.name) - place(b.name) || a.name.localeCompare(b.name)),
  };
}

function operationOf(method: string, path: string, raw: RawOperation, schemas: Record<string, Schema>): Operation {
  const [form] = Object.entries(raw.requestBody?.content ?? {});
  const answers: Answer[] = [];
  for (const [status, { description = '', content = {} }] of Object.entries(raw.responses)) {
    if (Number(status) >= 400) continue;
    for (const [type, { schema = {} }] of Object.entries(content)) answers.push({ status, type, description, ...unwrapped(schema, schemas) });
  }
  return {
    id: raw.operationId,
    method: method.toUpperCase(),
    path,
    summary: raw.summary ?? raw.operationId,
    group: raw.tags?.[0] ?? '',
    signedIn: (raw.security?.length ?? 0) > 0,
    parameters: raw.parameters ?? [],
    body: form ? { type: form[0], required: raw.requestBody?.required === true, schema: form[1].schema ?? {} } : null,
    answers,
    failures: Object.keys(raw.responses).filter((status) => Number(status) >= 400),
    events: [...new Set(answers.flatMap((one) => one.schema['x-event-kinds'] ?? []))],
  };
}

/** Every answer in JSON is in the same envelope (API-01); what differs is its data. */
function unwrapped(schema: Schema, schemas: Record<string, Schema>): { schema: Schema; enveloped: boolean } {
  const { properties = {} } = resolve(schema, schemas);
  const data = properties['status'] && properties['request_id'] ? properties['data'] : undefined;
  return data ? { schema: data, enveloped: true } : { schema, enveloped: false };
}

export function nameOf(schema: Schema): string {
  return schema.$ref?.slice(schema.$ref.lastIndexOf('/') + 1) ?? '';
}

/** The schema itself, or what it refers to. */
export function resolve(schema: Schema, schemas: Record<string, Schema>): Schema {
  return schema.$ref ? (schemas[nameOf(schema)] ?? {}) : schema;
}

const kindsOf = (schema: Schema): string[] => (schema.type === undefined ? [] : [schema.type].flat());

/** A schema as one would write the type. */
export function typeText(schema: Schema): string {
  if (schema.$ref) return nameOf(schema);
  if (schema.enum) return schema.enum.map((one) => JSON.stringify(one)).join(' | ');
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return [...new Set(choices.map(typeText))].join(' | ');
  const kinds = kindsOf(schema);
  return kinds.length === 0 ? 'any' : kinds.map((kind) => kindText(kind, schema)).join(' | ');
}

function kindText(kind: string, schema: Schema): string {
  if (kind === 'array') {
    const item = typeText(schema.items ?? {});
    return item.includes(' ') ? `(${item})[]` : `${item}[]`;
  }
  if (kind === 'object' && !schema.properties && typeof schema.additionalProperties === 'object') {
    const value = typeText(schema.additionalProperties);
    return value === 'any' ? 'object' : `{ [name]: ${value} }`;
  }
  if (kind === 'string' && (schema.format === 'uuid' || schema.format === 'date-time' || schema.format === 'binary')) return { uuid: 'uuid', 'date-time': 'time', binary: 'file' }[schema.format]!;
  return kind;
}

/** What a value is bounded by. */
export function boundsOf(schema: Schema): string {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems } = schema;
  const range = (least: number | undefined, most: number | undefined) => (least === undefined ? (most === undefined ? '' : `≤ ${most}`) : most === undefined ? `≥ ${least}` : `${least} … ${most}`);
  return range(minimum, maximum) || range(minLength, maxLength) || range(minItems, maxItems);
}

/** The objects a schema is made of, one level down: what can be looked into. */
export function innerOf(schema: Schema, schemas: Record<string, Schema>): Schema[] {
  const whole = resolve(schema, schemas);
  const choices = whole.anyOf ?? whole.oneOf;
  if (choices) return choices.flatMap((one) => innerOf(one, schemas));
  if (whole.items) return innerOf(whole.items, schemas);
  if (typeof whole.additionalProperties === 'object' && !whole.properties) return innerOf(whole.additionalProperties, schemas);
  return whole.properties && Object.keys(whole.properties).length > 0 ? [whole] : [];
}

const deepest = 4; // levels of an example; what lies deeper is left empty

/** A value such as the schema describes, with only what is required, or with everything. */
export function example(schema: Schema, schemas: Record<string, Schema>, all = false, depth = 0): unknown {
  const whole = resolve(schema, schemas);
  if (whole.enum) return whole.enum.find((one) => one !== '') ?? whole.enum[0];
  const choice = (whole.anyOf ?? whole.oneOf)?.find((one) => one.type !== 'null');
  if (choice) return example(choice, schemas, all, depth);
  const kind = kindsOf(whole).find((one) => one !== 'null');
  switch (kind) {
    case 'object': {
      if (depth > deepest) return {};
      const members = Object.entries(whole.properties ?? {}).filter(([name]) => all || whole.required?.includes(name));
      return Object.fromEntries(members.map(([name, one]) => [name, example(one, schemas, all, depth + 1)]));
    }
    case 'array':
      return depth > deepest ? [] : [example(whole.items ?? {}, schemas, all, depth + 1)];
    case 'integer':
    case 'number':
      return Math.max(whole.minimum ?? 1, 1);
    case 'boolean':
      return true;
    case 'string':
      return text(whole);
    default:
      return null;
  }
}

function text({ format }: Schema): string {
  if (format === 'uuid') return '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b';
  if (format === 'date-time') return '2026-01-31T12:00:00Z';
  return '…';
}

/** What an operation answers, whole: with its envelope. */
export function answerExample(answer: Answer, schemas: Record<string, Schema>): unknown {
  const data = example(answer.schema, schemas);
  return answer.enveloped ? { status: 'ok', data, request_id: '0199a1b2-7c3d-7e4f-8a5b-000000000001' } : data;
}

const quoted = (value: string) => `'${value.replaceAll("'", `'\\''`)}'`;

/** How to ask for an operation on the command line; the token is in $TOKEN. */
export function curl(operation: Operation, origin: string, schemas: Record<string, Schema>): string {
  const query = operation.parameters.filter((one) => one.in === 'query' && one.required).map((one) => `${one.name}=…`);
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => `$${name.toUpperCase()}`);
  const lines = [`curl "${origin}${path}${query.length > 0 ? `?${query.join('&')}` : ''}"`];
  if (operation.method !== 'GET') lines[0] = lines[0]!.replace('curl ', `curl -X ${operation.method} `);
  if (operation.events.length > 0) lines.push(`-N -H 'Accept: text/event-stream'`);
  if (operation.signedIn) lines.push('-H "Authorization: Bearer $TOKEN"');
  if (operation.parameters.some((one) => one.name === 'Idempotency-Key')) lines.push('-H "Idempotency-Key: $(uuidgen)"');
  if (operation.body?.type === 'multipart/form-data') {
    for (const [name, one] of Object.entries(operation.body.schema.properties ?? {})) if (operation.body.schema.required?.includes(name)) lines.push(`-F ${name}=${one.format === 'binary' ? '@notes.md' : '…'}`);
  } else if (operation.body) {
    const body = example(operation.body.schema, schemas) ?? {};
    const said = operation.events.length > 0 && operation.id === 'chat' ? { ...(body as object), message: 'Hello', stream: true } : body;
    lines.push(`-H 'Content-Type: application/json'`, `-d ${quoted(JSON.stringify(said))}`);
  }
  return lines.join(' \\\n  ');
}

/** Whether every word of what is looked for is somewhere in an operation. */
export function fits(operation: Operation, find: string): boolean {
  const all = `${operation.id} ${operation.method} ${operation.path} ${operation.summary} ${operation.group}`.toLowerCase();
  return find.toLowerCase().split(/\s+/).every((word) => all.includes(word));
}
