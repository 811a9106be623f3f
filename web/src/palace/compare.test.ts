import { expect, it } from 'vitest';
import { compare, glance, partsOf } from './compare.ts';

const body = (result: string, more: object = {}) =>
  JSON.stringify({
    model: 'm',
    system: [{ type: 'text', text: 'be kind' }],
    tools: [{ name: 'Read' }],
    messages: [
      { role: 'user', content: 'hello' },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: result }, { type: 'text', text: 'and?' }] },
    ],
    ...more,
  });

it('names what differs between what was sent and what went on, and counts what is the same', () => {
  const found = compare(body('one\ntwo'), body('[set aside]'))!;
  expect(found.same).toBe(5);
  expect(found.changed.map((one) => [one.part.kind, one.part.number, one.part.role])).toEqual([['message', 2, 'user']]);
  expect(found.changed[0]!.before).toEqual({ type: 'tool_result', tool_use_id: 't', content: ['one', 'two'] });
  expect(compare(body('x'), body('x', { betas: ['b'] }))!.changed.map((one) => one.part.kind)).toEqual(['rest']);
  expect(compare(body('x'), body('x', { tools: undefined }))!.changed.map((one) => [one.part.kind, one.after])).toEqual([['tools', undefined]]);
});

it('takes what is no request for what it is', () => {
  expect([compare('no JSON', body('x')), partsOf('[1]'), partsOf('null')]).toEqual([null, null, null]);
  expect(partsOf('{"messages":[null,{"role":"user"}],"system":"s"}')!.map((one) => one.key)).toEqual(['system 0']);
});

it('tells in a line how a part begins', () => {
  expect([{ type: 'text', text: 'a\n  b' }, 'words', { type: 'tool_use', name: 'Bash', input: {} }, { type: 'tool_result', content: [{ type: 'text', text: 'out' }] }, [1], null].map(glance)).toEqual(['a b', 'words', 'Bash', 'out', '', '']);
});
