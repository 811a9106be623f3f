import { describe, expect, it } from 'vitest';
import { en as common } from '../i18n/en.ts';
import { answerOf, initialEntries, wordsOf, wrongOf } from './answer.ts';
import { fieldsOf, type Field } from './fields.ts';
import { isPlain, isText } from './schema.ts';
import { en as own } from './words.ts';

const en = { ...common, ...own };

const trip = {
  type: 'object',
  required: ['to', 'nights', 'who'],
  'x-order': ['when'],
  properties: {
    to: { type: 'string', title: 'Where to', description: 'A town', minLength: 2 },
    nights: { type: 'integer', title: 'Nights', minimum: 1, exclusiveMaximum: 31, default: 2 },
    price: { type: ['number', 'null'], title: 'Price' },
    by: { type: 'array', title: 'By', items: { $ref: '#/definitions/means' } },
    class: { enum: [1, 2, 'any'], default: 2 },
    seat: { oneOf: [{ const: 'w', title: 'Window' }, { const: 'a', title: 'Aisle' }] },
    dog: { type: 'boolean', title: 'With a dog', default: true },
    note: { type: 'string', format: 'textarea' },
    when: { type: 'string', format: 'date' },
    tags: { type: 'array', items: { type: 'string' } },
    who: { type: 'object', title: 'Who', required: ['name'], properties: { name: { type: 'string', title: 'Name' }, home: { type: 'object', properties: { street: { type: 'string' } } } } },
    pet: { type: 'object', required: ['name'], properties: { name: { type: 'string' }, tame: { type: 'boolean' } } },
    extra: { anyOf: [{ type: 'string' }, { type: 'number' }] },
    'a/b': { type: 'string' },
  },
  definitions: { means: { enum: ['rail', 'bus'] } },
};
const kinds = (fields: Field[]) => fields.map((field) => `${field.name}:${field.kind}`).join(' ');
const fields = fieldsOf(trip);
const filled = { ...initialEntries(fields), '/to': 'Graz', '/who/name': 'Ada' };

describe('the fields of a schema', () => {
  it('stand in the order they are wanted in, and fall back to JSON', () => {
    expect(kinds(fields)).toBe('when:date to:text nights:integer who:group a/b:text by:many class:choice dog:boolean extra:json note:long pet:group price:number seat:choice tags:lines');
    const who = fields.find((field) => field.name === 'who')!;
    expect(kinds(who.fields)).toBe('name:text home:json');
    expect(who.fields.map((field) => field.path)).toEqual(['/who/name', '/who/home']);
    expect(fields.find((field) => field.name === 'nights')).toMatchObject({ min: 1, max: 30, required: true });
    expect(fields.find((field) => field.name === 'a/b')!.path).toBe('/a~1b');
  });

  it('are one for the whole answer where an object cannot be drawn, whatever is written there', () => {
    for (const schema of [
      { oneOf: [{ type: 'object' }, { type: 'string' }] },
      { type: 'object' },
      { type: 'object', properties: { a: {} }, required: ['b'] },
      { type: 'object', properties: { a: {} }, anyOf: [{ required: ['a'] }] },
      { type: 'array', items: [{ type: 'string' }] },
      { $ref: '#' },
      { $ref: '#/definitions/a', definitions: { a: { $ref: '#/definitions/a' } } },
      { type: 7, properties: 'x', required: {}, enum: 'y', items: null, oneOf: [null], not: {} },
    ]) {
      expect(kinds(fieldsOf(schema)), JSON.stringify(schema)).toBe(':json');
      expect(isPlain(schema), JSON.stringify(schema)).toBe(false);
    }
    expect(kinds(fieldsOf({ enum: ['a', 'b'] }))).toBe(':choice');
    expect(kinds(fieldsOf({ type: 'number' }))).toBe(':number');
  });

  it('are not needed for a text', () => {
    for (const schema of [undefined, null, {}, { type: 'string' }, { type: ['null', 'string'], minLength: 3 }]) expect([isPlain(schema), isText(schema)]).toEqual([true, true]);
    expect([isPlain({ type: 'integer' }), isText({ type: 'integer' })]).toEqual([true, false]);
    expect(isPlain({ type: 'string', format: 'date' })).toBe(false);
  });
});

describe('the answer', () => {
  it('has what was filled in, and leaves out the rest', () => {
    const { value, wrong } = answerOf(fields, { ...filled, '/by': ['1'], '/price': '1,5', '/tags': 'a\n\n b ', '/seat': '0', '/extra': '{"x":[1]}', '/when': '2026-12-31' }, en);
    expect(wrong).toEqual({});
    expect(value).toEqual({ when: '2026-12-31', to: 'Graz', nights: 2, who: { name: 'Ada' }, by: ['bus'], class: 2, dog: true, extra: { x: [1] }, price: 1.5, seat: 'w', tags: ['a', 'b'] });
    expect(wordsOf(fields, value)).toBe('when: 2026-12-31; Where to: Graz; Nights: 2; Who: (Name: Ada); By: bus; class: 2; With a dog: ✓; extra: {"x":[1]}; Price: 1.5; seat: Window; tags: a, b');
  });

  it('says at each field what is plainly wrong', () => {
    const wrongWith = (entries: object) => answerOf(fields, { ...filled, ...entries }, en).wrong;
    expect(wrongWith({ '/to': ' ', '/who/name': '' })).toEqual({ '/to': en.formMissing, '/who/name': en.formMissing });
    expect(wrongWith({ '/to': 'G', '/nights': '31', '/extra': '{' })).toMatchObject({ '/to': en.formTooShort(2), '/nights': en.formAtMost(30) });
    expect(wrongWith({ '/nights': '1.5' })).toEqual({ '/nights': en.formWhole });
    expect(wrongWith({ '/nights': 'two' })).toEqual({ '/nights': en.numberNeeded });
    expect(wrongWith({ '/pet/tame': true })).toEqual({ '/pet/name': en.formMissing });
    expect(wrongWith({ '/extra': '{' })['/extra']).toContain('This is not JSON');
  });

  it('takes what the server found to the fields it is about', () => {
    const found = [
      { path: '/nights', message: 'it must be <= 5' },
      { path: '/by/1', message: 'not allowed' },
      { path: '/who/home/street', message: 'it must be string' },
      { path: '', message: '"x" is not known here' },
      { path: '/who/age', message: 'it is missing' },
    ];
    expect(wrongOf(fields, found)).toEqual({
      '/nights': 'it must be <= 5',
      '/by': 'not allowed',
      '/who/home': 'it must be string',
      '': '"x" is not known here; who/age: it is missing',
    });
    for (const none of [undefined, null, 'x', {}, [7], [{ path: 1 }]]) expect(wrongOf(fields, none)).toEqual({});
  });
});
