import { expect, it } from 'vitest';
import type { Epoch } from '../api/palace.ts';
import { blockFixture, epochFixture } from './fixtures.ts';
import { everything, rowsOf, weightOf } from './rows.ts';

const at = (minute: number) => `2026-11-28T12:${String(minute).padStart(2, '0')}:00Z`;
const block = (n: number, block_type: string, label: string) => blockFixture({ display_id: n, uuid: `0000000${n}-aaaa-7000-8000-000000000000`, block_type, label, created_at: at(n), tokens: n });

const blocks = [
  block(1, 'User', '<system-reminder> who the person is'),
  block(2, 'User', 'What is in the file?'),
  block(3, 'ToolUse', 'Read {"file_path":"a"}'),
  block(4, 'ToolResult', 'package a'),
  block(5, 'User', '<system-reminder> a note beside a result'),
  block(6, 'Assistant', 'It is empty.'),
  block(7, 'User', '<system-reminder> before the next words'),
  block(8, 'User', 'And now?'),
  block(9, 'Assistant', 'Still.'),
];

const drawn = (epochs: Epoch[], filter = everything) =>
  rowsOf(blocks, epochs, filter).map((row) => (row.kind === 'turn' ? `${row.number} ${row.says} ${row.blocks}/${row.tokens}` : row.kind === 'epoch' ? `epoch ${row.epoch.number}` : `${row.block.display_id}${row.aside ? ' aside' : ''}`));

// Requirements: PAL-10
it('begins a turn with words of a person and the notes before them, and not with notes beside results', () => {
  expect(drawn([])).toEqual(['1 What is in the file? 6/21', '1', '2', '3', '4', '5', '6', '2 And now? 3/24', '7', '8', '9']);
});

it('draws an epoch before the first block that came after it, and what the newest has set aside', () => {
  const first = epochFixture({ number: 1, opened_at: at(6), replace: [] });
  const second = epochFixture({ number: 2, opened_at: at(8), replace: [{ result: 'toolu_4', sum: 's', block: '4-0000', label: 'Read a', bytes: 9, tokens: 4 }] });
  expect(drawn([first, second])).toEqual(['1 What is in the file? 6/21', '1', '2', '3', '4 aside', '5', 'epoch 1', '6', '2 And now? 3/24', '7', 'epoch 2', '8', '9']);
  expect(drawn([first, { ...second, ended: 'the backend refused it' }])).not.toContain('4 aside');
  expect(drawn([epochFixture({ number: 3, opened_at: at(50) })]).at(-1)).toBe('epoch 3');
});

it('keeps the turns of what is found, and drops those in which nothing is', () => {
  expect(drawn([], { ...everything, type: 'ToolResult' })).toEqual(['1 What is in the file? 1/4', '4']);
  expect(drawn([], { ...everything, words: 'STILL' })).toEqual(['2 And now? 1/9', '9']);
  expect(drawn([], { ...everything, words: '4-0000' })).toEqual(['1 What is in the file? 1/4', '4']);
  expect(drawn([], { ...everything, aside: true })).toEqual([]);
});

it('draws the small beside the large', () => {
  expect([weightOf(0, 100), weightOf(1, 100_000), weightOf(25, 100), weightOf(100, 100), weightOf(3, 0)]).toEqual([0, 2, 50, 100, 0]);
});
