import { describe, expect, it } from 'vitest';
import { boundsOf, curl, example, fits, innerOf, read, typeText, type ApiDocument, type Schema } from './model.ts';

const envelope = (data: Schema): Schema => ({ type: 'object', properties: { status: { type: 'string' }, data, request_id: { type: 'string' } } });
const failing = { '400': { description: 'Bad Request' }, '404': {} };

const document: ApiDocument = {
  info: { title: 'T', version: '3' },
  components: {
    schemas: {
      Thing: { type: 'object', required: ['id', 'kin'], properties: { id: { type: 'string', format: 'uuid' }, kin: { type: 'array', items: { $ref: '#/components/schemas/Thing' } }, size: { type: 'integer', minimum: 3 } } },
      EnvelopeThing: envelope({ $ref: '#/components/schemas/Thing' }),
    },
  },
  paths: {
    '/v1/zoo': { get: { operationId: 'zoo', tags: ['zoo'], responses: { '200': { content: { 'application/octet-stream': { schema: { type: 'string' } } } } } } },
    '/v1/things/{id}': {
      delete: { operationId: 'drop', summary: 'Take it away', tags: ['chat'], security: [{ bearer: [] }], responses: { '200': {}, ...failing } },
      get: {
        operationId: 'thing',
        tags: ['chat'],
        security: [],
        parameters: [{ in: 'query', name: 'q', required: true, schema: { type: 'string' } }],
        responses: { '200': { content: { 'application/json': { schema: { $ref: '#/components/schemas/EnvelopeThing' } }, 'text/event-stream': { schema: { type: 'string', 'x-event-kinds': ['token', 'error'] } } } }, ...failing },
      },
    },
    '/v1/auth/things': {
      post: {
        operationId: 'make',
        summary: 'Make one',
        tags: ['auth'],
        security: [{ bearer: [] }],
        parameters: [{ in: 'header', name: 'Idempotency-Key', schema: { type: 'string' } }],
        requestBody: { required: true, content: { 'application/json': { schema: { type: 'object', required: ['name'], properties: { name: { enum: ["it's", 'b'] }, note: { type: 'string' } } } } } },
        responses: { '200': { content: { 'application/json': { schema: envelope({ type: 'null' }) } } } },
      },
    },
  },
};
const reference = read(document);
const operation = (id: string) => reference.groups.flatMap((group) => group.operations).find((one) => one.id === id)!;

describe('the reference', () => {
  it('has every operation in its group, in the order one needs them', () => {
    expect(reference.groups.map((group) => [group.name, ...group.operations.map((one) => one.id)])).toEqual([
      ['auth', 'make'],
      ['chat', 'thing', 'drop'],
      ['zoo', 'zoo'],
    ]);
  });

  it('says of an operation who may ask, what it gives without its envelope, and how it fails', () => {
    const thing = operation('thing');
    expect([thing.signedIn, operation('drop').signedIn]).toEqual([false, true]);
    expect(thing.answers.map((one) => [one.type, typeText(one.schema), one.enveloped])).toEqual([
      ['application/json', 'Thing', true],
      ['text/event-stream', 'string', false],
    ]);
    expect([thing.failures, thing.events]).toEqual([['400', '404'], ['token', 'error']]);
  });

  it('is searched by words of the path, the method and what it does', () => {
    expect([fits(operation('make'), 'POST make'), fits(operation('make'), 'post zoo'), fits(operation('drop'), 'away {id}')]).toEqual([true, false, true]);
  });
});

describe('a type', () => {
  it.each([
    [{ type: ['string', 'null'] }, 'string | null'],
    [{ type: 'string', format: 'uuid' }, 'uuid'],
    [{ anyOf: [{ $ref: '#/components/schemas/Thing' }, { type: 'null' }] }, 'Thing | null'],
    [{ type: 'array', items: { type: ['integer', 'null'] } }, '(integer | null)[]'],
    [{ type: 'object', additionalProperties: { type: 'number' } }, '{ [name]: number }'],
    [{ type: 'object', additionalProperties: true }, 'object'],
    [{ type: 'string', enum: ['a', 'b'] }, '"a" | "b"'],
    [{}, 'any'],
  ] as [Schema, string][])('%j reads %s', (schema, text) => expect(typeText(schema)).toBe(text));

  it('says its bounds', () => {
    expect([{ minimum: 0 }, { maxLength: 8 }, { minimum: 1, maximum: 100 }, {}].map(boundsOf)).toEqual(['≥ 0', '≤ 8', '1 … 100', '']);
  });

  it('can be looked into through lists, choices and references', () => {
    const inner = innerOf({ anyOf: [{ type: 'array', items: { $ref: '#/components/schemas/Thing' } }, { type: 'null' }] }, reference.schemas);
    expect(inner).toEqual([document.components.schemas['Thing']]);
    expect(innerOf({ type: 'string' }, reference.schemas)).toEqual([]);
  });
});

describe('an example', () => {
  it('of a type that holds itself ends', () => {
    expect(JSON.stringify(example({ $ref: '#/components/schemas/Thing' }, reference.schemas)).length).toBeLessThan(1_000);
  });

  it('has what is required, and everything where that is asked for', () => {
    const thing = document.components.schemas['Thing']!;
    expect(Object.keys(example({ ...thing, properties: { id: thing.properties!['id']!, size: thing.properties!['size']! } }, {}) as object)).toEqual(['id']);
    expect(example({ ...thing, properties: { size: thing.properties!['size']! } }, {}, true)).toEqual({ size: 3 });
  });
});

describe('the line for curl', () => {
  it('has the token, the key and the body, quoted for a shell', () => {
    expect(curl(operation('make'), 'http://x', reference.schemas)).toBe(
      `curl -X POST "http://x/v1/auth/things" \\\n  -H "Authorization: Bearer $TOKEN" \\\n  -H "Idempotency-Key: $(uuidgen)" \\\n  -H 'Content-Type: application/json' \\\n  -d '{"name":"it'\\''s"}'`,
    );
  });

  it('needs no token where nobody need be signed in', () => {
    expect(curl(operation('thing'), 'http://x', reference.schemas)).toBe(`curl "http://x/v1/things/$ID?q=…" \\\n  -N -H 'Accept: text/event-stream'`);
  });
});
