import { expect, it } from 'vitest';
import { framesOf, pieces } from './content.ts';

// Requirements: UI-33
it('takes a block apart, whatever a stranger put in it', () => {
  const kinds = (content: unknown) => pieces(content).map((one) => one.kind);
  expect(kinds('words')).toEqual(['prose']);
  expect(kinds({ type: 'text', text: '<b>text</b>' })).toEqual(['prose']);
  expect(kinds({ type: 'text', text: 7 })).toEqual(['json']);
  expect(kinds({ type: 'thinking', thinking: 'hm', signature: 's' })).toEqual(['prose']);
  expect(kinds({ type: 'redacted_thinking', data: 'x' })).toEqual(['redacted']);
  expect(pieces({ type: 'tool_use', name: 'Bash', input: { command: 'ls' } })).toEqual([{ kind: 'json', value: { command: 'ls' } }]);
  expect(pieces({ type: 'tool_result', is_error: true, content: [{ type: 'text', text: '{"a":1}' }, { type: 'image', source: { media_type: 'image/png', data: 'AAAA' } }, null] })).toEqual([
    { kind: 'failed' },
    { kind: 'output', text: '{"a":1}', language: 'json' },
    { kind: 'medium', type: 'image/png', size: 3 },
    { kind: 'json', value: null },
  ]);
  expect([kinds(null), kinds({ type: 'tool_result', content: '' }), kinds([]), kinds({ type: 'of_next_year' })]).toEqual([[], [], ['json'], ['json']]);
});

it('reads the events of a stream, as far as it came', () => {
  const stream = 'event: a\ndata: {"t":"ü"}\n\n: a comment\n\nevent: b\r\ndata: 1\r\ndata: 2\r\n\r\ndata: torn';
  expect(framesOf(stream)).toEqual([
    { event: 'a', data: '{"t":"ü"}' },
    { event: 'b', data: '1\n2' },
    { event: '', data: 'torn' },
  ]);
});
