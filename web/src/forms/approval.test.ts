import { describe, expect, it } from 'vitest';
import type { JsonSchema } from '../api/types.ts';
import { approvalOf, fieldsOf } from './fields.ts';

// Requirements: GRND-49
describe('a question before a tool is called', () => {
  const schema = {
    type: 'object',
    additionalProperties: false,
    properties: {
      decision: { default: 'approve', oneOf: [{ const: 'approve' }, { const: 'decline' }] },
      text: { type: 'string', title: 'Post', default: 'as drafted', minLength: 1, maxLength: 3000 },
      remember: { type: 'boolean', title: 'Do not ask again', default: false },
    },
    required: ['decision'],
    if: { properties: { decision: { const: 'approve' } } },
    // oxlint-disable-next-line unicorn/no-thenable -- the word of JSON Schema
    then: { required: ['decision', 'text'] },
    'x-order': ['text', 'remember', 'decision'],
    'x-call': { tool: 'publish' },
  } as unknown as JsonSchema;

  it('is drawn as the call, which may be changed, and has no field for the decision', () => {
    const fields = fieldsOf(approvalOf(schema)!);
    expect(fields.map((field) => [field.name, field.kind, field.required, field.initial])).toEqual([
      ['text', 'long', true, 'as drafted'],
      ['remember', 'boolean', false, false],
    ]);
  });

  it('is no other form', () => {
    expect(approvalOf({ type: 'object', properties: { decision: { type: 'string' } } } as JsonSchema)).toBeNull();
  });
});
