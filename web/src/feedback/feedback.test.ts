import { describe, expect, it } from 'vitest';
import type { Message, Thread } from '../api/types.ts';
import { noteAfter, noteOf, trimmed } from './NoteForm.tsx';
import { learnable, notedIn } from './read.ts';
import { withFeedback, withoutFeedback, withUndone } from './state.ts';

function message(id: string, more: Partial<Message> = {}): Message {
  return {
    id, role: 'assistant', sender: 'assistant', content: 'So it is.', seq: 1, created_at: '', run_id: null, content_struct: null,
    token_count_in: 0, token_count_out: 0, meta: {}, versions: null, feedback: null, ...more,
  };
}

describe('what messages carry of feedback', () => {
  it('reads what was heard in a message, and nothing that is malformed', () => {
    const noted = { preference_id: 7, signal: 'never', message_id: 'a', undone: true };
    expect(notedIn(message('q', { meta: { noted } }))).toEqual({ id: 7, signal: 'never', message: 'a', undone: true });
    for (const odd of [null, 'x', {}, { ...noted, signal: 'love' }, { ...noted, preference_id: '7' }]) expect(notedIn(message('q', { meta: { noted: odd } }))).toBeNull();
    expect(notedIn(null)).toBeNull();
  });

  it('learns of no answer that was withheld or judged unsafe', () => {
    const instead = { segments: [{ type: 'redaction', text: 'So it is.' }], citations: [] };
    const piece = { segments: [{ type: 'redaction', text: 'it' }], citations: [] };
    expect(learnable(null)).toBe(true);
    expect(learnable(message('a'))).toBe(true);
    expect(learnable(message('a', { content_struct: piece as unknown as Message['content_struct'] }))).toBe(true);
    expect(learnable(message('a', { content_struct: instead as unknown as Message['content_struct'] }))).toBe(false);
    expect(learnable(message('a', { meta: { suppressed: true } }))).toBe(false);
    expect(learnable(message('a', { meta: { safety: { risk: 'high' } } }))).toBe(false);
    expect(learnable(message('a', { meta: { safety: { risk: 'med' } } }))).toBe(true);
  });
});

it('changes one answer of a thread and leaves the others as they are', () => {
  const thread = { data: [message('a'), message('b')] } as Thread;
  const feedback = { id: 1, signal: 'like' as const, notes: '', corrected_text: '' };
  const next = withFeedback(thread, 'b', feedback)!;
  expect(next.data[1]!.feedback).toEqual(feedback);
  expect(next.data[0]).toBe(thread.data[0]);
  expect(withFeedback(thread, 'c', feedback)).toBe(thread);
  expect(withFeedback(undefined, 'c', feedback)).toBeUndefined();
});

it('says of what was noted that it was taken back, wherever it stands, and of an answer unless something else stands there', () => {
  const noted = (preference_id: number) => ({ preference_id, signal: 'never', message_id: 'a', undone: false });
  const feedback = { id: 8, signal: 'like' as const, notes: '', corrected_text: '' };
  const thread = { data: [message('q', { meta: { noted: noted(7) } }), message('a', { feedback }), message('r', { meta: { noted: noted(9) } })] } as Thread;
  const next = withUndone(thread, (one) => one.id === 7)!;
  expect(next.data.map((one) => notedIn(one)?.undone)).toEqual([true, undefined, false]);
  expect(next.data[1]).toBe(thread.data[1]);
  expect(withoutFeedback(thread, 'a', 7)).toBe(thread);
  expect(withoutFeedback(thread, 'a', 8)!.data[1]!.feedback).toBeNull();
});

it('shows the note that is kept, and does not take away what is being written when only a thumb changes', () => {
  const [none, old, other, typed] = [noteOf(null), noteOf({ notes: 'old' }), noteOf({ notes: 'of another form' }), noteOf({ notes: 'half' })];
  expect(noteAfter(old, old, other)).toBe(other);
  expect(noteAfter(typed, old, other)).toBe(other); // it would write over what was said there
  expect(noteAfter(typed, old, none)).toBe(typed);
  expect(noteAfter(old, old, none)).toBe(none);
});

it('sends of a note only what was written', () => {
  expect(trimmed({ notes: '  why  ', corrected_text: ' \n' })).toEqual({ notes: 'why' });
  expect(trimmed({})).toEqual({});
});
