import { expect, it } from 'vitest';
import type { OpenQuestion } from '../api/changes.ts';
import type { LearnedAdapter } from '../api/learning.ts';
import { programsList, waitingList } from './waiting.ts';

const question = (part: Partial<OpenQuestion>): OpenQuestion => ({
  interrupt_id: 'i', run_id: 'r', conversation_id: null, interrupt_type: 'text_input', message: 'Which?', options: null, status: 'pending', waits_for: 'person', created_at: '2026-01-01T00:00:00Z', ...part,
});
const adapter = (id: string, patch: object | null) => ({ id, name: id, patch }) as unknown as LearnedAdapter;

it('is one list of all that waits, the latest first, each once and with its way', () => {
  const list = waitingList(
    [
      question({ interrupt_id: 'a', conversation_id: 'c1', created_at: '2026-01-02T00:00:00Z', asked: 'Audit this' }),
      question({ interrupt_id: 'b', run_id: 'r2' }),
      question({ interrupt_id: 'd', patch_id: 7, created_at: '2026-01-03T00:00:00Z' }),
      question({ interrupt_id: 'w', patch_id: 8, options: [{ id: 'keep', label: 'Keep' }] }), // it is watched, and waits for its time
    ],
    [adapter('mine', { id: 9, may_decide: true }), adapter('asked', { id: 7, may_decide: true }), adapter('theirs', { id: 10, may_decide: false }), adapter('none', null)],
    { count: '20+', since: '2026-01-01T12:00:00Z' },
  );
  expect(list.map((one) => [one.kind, one.href])).toEqual([
    ['decision', '/operate/patches/7'],
    ['question', '/c/c1'],
    ['notes', '/operate/palace/notes'],
    ['runQuestion', '/operate/runs/r2'],
    ['lesson', '/settings/learning'],
  ]);
  expect(list[1]!.about).toBe('Audit this');
});

it('tells apart what waits for a program, which its person can only skip', () => {
  const open = [
    question({ interrupt_id: 'a', conversation_id: 'c1', interrupt_type: 'client_call', waits_for: 'program' }),
    question({ interrupt_id: 'b', conversation_id: 'c2', created_at: '2026-01-02T00:00:00Z' }),
  ];
  expect(waitingList(open, [], null).map((one) => one.key)).toEqual(['b']);
  expect(programsList(open).map((one) => [one.kind, one.href])).toEqual([['program', '/c/c1']]);
});
