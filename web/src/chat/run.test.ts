import { describe, expect, it } from 'vitest';
import type { RunEvent } from '../api/types.ts';
import { emptyRun, fold, stepsOf, type RunState } from './run.ts';

let seq = 0;
/** An event as a log may hold it: of another version, or with less than the document promises. */
function event(kind: string, data: unknown): RunEvent {
  return { seq: ++seq, kind, data } as RunEvent;
}
function after(...events: RunEvent[]): RunState {
  return events.reduce(fold, emptyRun);
}

const question = { interrupt_id: 'q1', run_id: 'r', conversation_id: 'c', interrupt_type: 'doc_choice', message: 'Which?', options: [], created_at: '' };

describe('a run, folded', () => {
  it('keeps one line a step, and settles it', () => {
    const state = after(
      event('status', { node: 'a', message: 'Finding…' }),
      event('status', { node: 'a', message: 'Finding…', done: true }),
      event('status', { node: 'b', message: 'Writing…' }),
    );
    expect(stepsOf(state.items).map((step) => [step.label, step.done])).toEqual([
      ['Finding…', true],
      ['Writing…', false],
    ]);
  });

  it('gives a repeated event no second effect', () => {
    const token = event('token', 'once');
    expect(after(token, token).text).toBe('once');
  });

  // Requirements: STREAM-32
  it('drops the partial text on reset, and ends with the stored text', () => {
    const partial = after(event('token', 'first try'), event('reset', { reason: 'retry' }), event('token', 'second'));
    expect(partial.text).toBe('second');
    const done = fold(partial, event('message_done', { content: 'second try', citations: null }));
    expect([done.phase, done.text]).toEqual(['done', 'second try']);
  });

  // Requirements: GRND-17
  it('keeps the links of an answer, and drops with its text those that went with it', () => {
    const chip = { kind: 'deadline', action: 'open', id: 'd1', href: '/r/matters/deadline/d1', label: 'Klageerwiderung' };
    const shown = after(event('token', 'One.'), event('chip', chip), event('chip', chip), event('chip', { ...chip, href: '//elsewhere.example' }), event('chip', { ...chip, href: 'javascript:alert(1)' }));
    expect(shown.chips).toEqual([{ href: '/r/matters/deadline/d1', label: 'Klageerwiderung' }]);
    expect(fold(shown, event('reset', { reason: 'tools' })).chips).toEqual([]);
    const segments = [
      { type: 'text', text: 'One.' },
      { type: 'attachment', kind: 'page', uri: '/r/matters/deadline', description: 'deadline' },
      { type: 'attachment', kind: 'record', uri: 'javascript:alert(1)', description: 'x' },
      { type: 'attachment', kind: 'file', uri: '/files/a.pdf', description: 'a.pdf' },
    ];
    expect(fold(shown, event('message_done', { content: 'One.', content_struct: { segments } })).chips).toEqual([{ href: '/r/matters/deadline', label: 'deadline' }]);
  });

  it('says that the beginning is missing after a gap, until the end brings it', () => {
    const gap = after(event('token', 'lost'), event('reset', { reason: 'gap' }), event('token', 'rest'));
    expect([gap.gap, gap.text]).toEqual([true, 'rest']);
    expect(fold(gap, event('message_done', { content: 'all the rest' })).gap).toBe(false);
  });

  // Requirements: INT-13
  it('keeps questions apart and in order', () => {
    const state = after(
      event('interrupt', question),
      event('paused', { interrupt_ids: ['q1'] }),
      event('resumed', { interrupt_id: 'q1' }),
      event('interrupt', { ...question, interrupt_id: 'q2' }),
      event('paused', { interrupt_ids: ['q2'] }),
    );
    const asked = state.items.filter((item) => item.kind === 'ask');
    expect(asked.map((item) => [item.key, item.settled])).toEqual([
      ['q1', true],
      ['q2', false],
    ]);
    expect(state.phase).toBe('waiting');
  });

  it('goes on with the step in which it paused', () => {
    const state = after(
      event('status', { node: 'doc_resolver', message: 'Finding…' }),
      event('status', { node: 'doc_resolver', message: 'Finding…', done: true }),
      event('interrupt', question),
      event('paused', { interrupt_ids: ['q1'] }),
      event('resumed', { interrupt_id: 'q1' }),
      event('status', { node: 'doc_resolver', message: 'Finding…' }),
      event('status', { node: 'doc_resolver', message: 'Finding…', done: true, docs_found: [{ id: 'd1', title: 'Rules' }] }),
    );
    expect(stepsOf(state.items)).toMatchObject([{ node: 'doc_resolver', done: true, docs: [{ title: 'Rules' }] }]);
  });

  it('takes no count of documents for their titles', () => {
    const state = after(event('status', { node: 'a', message: 'Finding…', done: true, docs_found: 2 }));
    expect(stepsOf(state.items)[0]!.docs).toEqual([]);
  });

  it('keeps what was written when it is stopped or fails', () => {
    const stopped = after(event('token', 'half a sen'), event('cancel_ack', {}));
    expect([stopped.phase, stopped.text]).toEqual(['stopped', 'half a sen']);
    const failed = after(event('token', 'half'), event('error', { code: 'server_error', message: 'Why.' }));
    expect([failed.phase, failed.text, failed.error?.message]).toEqual(['failed', 'half', 'Why.']);
    const spent = after(event('error', { code: 'rate_limited', message: 'Used up.', reason: 'budget' }));
    expect(spent.error).toEqual({ code: 'rate_limited', message: 'Used up.', reason: 'budget' });
  });

  // Requirements: STREAM-31
  it('ignores what it does not know', () => {
    expect(after(event('fireworks', {})).items).toEqual([]);
  });
});
