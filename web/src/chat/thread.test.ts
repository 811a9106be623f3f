import { describe, expect, it } from 'vitest';
import { interruptFixture, messageFixture } from '../api/fixtures.ts';
import type { Message } from '../api/types.ts';
import { answerWords, confidenceOf, createGrouping, headingOf, onOneLine, removedFrom, turnsOf, wholeTurns, withoutFrom } from './thread.ts';

let seq = 0;
function message(role: Message['role'], content: string, run: string | null, meta: Message['meta'] = {}): Message {
  seq++;
  return messageFixture(`m${seq}`, role, { content, seq, run_id: run, meta });
}

describe('a conversation as turns', () => {
  it('groups what belongs to one run', () => {
    const turns = turnsOf([
      message('user', 'first', 'r1'),
      message('assistant', 'one', 'r1'),
      message('user', 'second', 'r2'),
      message('system', 'Which?', 'r2', { type: 'pal_assist_prompt' }),
      message('user', 'BankNegara2024', 'r2'),
      message('assistant', 'two', 'r2'),
    ]);
    expect(turns.map((turn) => [turn.user?.content, turn.answer?.content])).toEqual([
      ['first', 'one'],
      ['second', 'two'],
    ]);
    expect(turns[1]!.asked).toMatchObject([{ question: 'Which?', answer: 'BankNegara2024' }]);
  });

  it('works without runs', () => {
    const turns = turnsOf([message('user', 'a', null), message('assistant', 'b', null), message('user', 'c', null)]);
    expect(turns.map((turn) => [turn.user?.content, turn.answer?.content])).toEqual([
      ['a', 'b'],
      ['c', undefined],
    ]);
  });

  // Requirements: INT-10
  it('leaves out an answer to a question that was skipped', () => {
    const [turn] = turnsOf([message('user', 'q', 'r1'), message('assistant', 'defaults', 'r1', { suppressed: true })]);
    expect(turn!.answer).toBeNull();
  });

  it('names the place of a passage without its title', () => {
    const at = (heading: string) => headingOf({ n: 1, document_id: '', context_id: '', chunk_id: '', title: 'Policy', path: '', heading, start: 0, end: 0, text: '', score: 1 });
    expect(['Policy › Retention › Years', 'Policy', 'Other › Policy', ''].map(at)).toEqual(['Retention › Years', '', 'Other › Policy', '']);
  });

  it('tells a row of a table by its cells', () => {
    expect(onOneLine('| BW-300 | 51 | 22 |')).toBe('BW-300 · 51 · 22');
    expect(onOneLine('| a | b |\n|---|--:|\n| 1 | |')).toBe('a · b; 1');
    expect(onOneLine('Either | or.')).toBe('Either | or.');
  });

  it('leaves the pictograph of a label to the page, and a person’s own words as they are', () => {
    const low = interruptFixture({ interrupt_type: 'retrieval_low', options: [{ id: 'tag_docs', label: '📄 Tag specific documents' }] });
    expect(answerWords(low, 'tag_docs')).toBe('Tag specific documents');
    const [turn] = turnsOf([
      message('user', 'q', 'r1'),
      message('system', 'Little.', 'r1', { type: 'pal_assist_prompt', interrupt_type: 'retrieval_low' }),
      message('user', '📄 Tag specific documents', 'r1'),
      message('system', 'Which?', 'r1', { type: 'pal_assist_prompt', interrupt_type: 'text_input' }),
      message('user', '📄 is a sheet', 'r1'),
    ]);
    expect(turn!.asked).toMatchObject([
      { answer: 'Tag specific documents', chosen: true },
      { answer: '📄 is a sheet', chosen: false },
    ]);
  });

  it('knows the words that stand for what was taken out', () => {
    const key = { type: 'redaction', text: '[removed: API key]', reason: 'API key' };
    expect(removedFrom([{ type: 'text', text: 'Use' }, key, key, { type: 'redaction' }])).toEqual(['[removed: API key]']);
    expect(removedFrom(null)).toEqual([]);
  });

  // Requirements: UI-28 (confidence is shown)
  it('knows how well the documents carry an answer, where that is said', () => {
    expect(['high', 'medium', 'low', 'certain', null, undefined].map((level) => confidenceOf({ retrieval_confidence: level }))).toEqual(['high', 'medium', 'low', null, null, null]);
    expect(confidenceOf(undefined)).toBeNull();
  });

  it('names an answer by its option', () => {
    const asked = interruptFixture({ options: [{ id: 'd1', label: 'Deriv' }] });
    expect(answerWords(asked, 'd1')).toBe('Deriv');
    expect(answerWords(asked, 'own words')).toBe('own words');
    expect(answerWords(asked, null)).toBeNull();
  });
});

describe('a conversation that grows and changes', () => {
  const first = [message('user', 'a', 'g1'), message('assistant', 'b', 'g1')];
  const second = [message('user', 'c', 'g2'), message('system', 'Which?', 'g2', { type: 'pal_assist_prompt' }), message('user', 'this', 'g2'), message('assistant', 'd', 'g2')];

  it('keeps the turns that are as they were, also behind earlier ones', () => {
    const grouped = createGrouping();
    const [was] = grouped(second);
    expect(grouped([...first, ...second])[1]).toBe(was);
    expect(grouped([...first, ...second.slice(0, 3)])[1]).not.toBe(was);
  });

  it('shows all versions of a turn in one place', () => {
    const other = { ...message('user', 'a, better', 'g3'), versions: { ids: [first[0]!.id, 'x'], at: 1 } };
    expect(turnsOf([other])[0]!.key).toBe(turnsOf(first)[0]!.key);
  });

  it('waits with a turn whose beginning may be on the page before', () => {
    const cut = turnsOf([...second.slice(2), ...first]);
    expect(wholeTurns(cut, true).map((turn) => turn.user?.content)).toEqual(['a']);
    expect(wholeTurns(cut, false)).toBe(cut);
    expect(wholeTurns(turnsOf(first), true)).toHaveLength(1); // something has to be there to come from
  });

  it('leaves out what is about to be replaced, and all after it', () => {
    const turns = turnsOf([...first, ...second]);
    expect(withoutFrom(turns, second[0]!.id)).toEqual(turns.slice(0, 1));
    expect(withoutFrom(turns, undefined)).toBe(turns);
    expect(withoutFrom(turns, 'of another conversation')).toBe(turns);
  });
});
