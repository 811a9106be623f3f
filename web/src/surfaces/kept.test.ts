import { beforeEach, describe, expect, it } from 'vitest';
import { session } from '../api/session.ts';
import type { User } from '../api/types.ts';
import '../forgetPerson.ts';
import { emptyRun, type RunState } from '../chat/run.ts';
import { asked, begin, historyOf, kept, keptOf, settled } from './kept.ts';

const as = (id: string | null) => session.set(id === null ? { state: 'out', user: null } : { state: 'in', user: { id } as User });
const accepted = (n: number) => ({ user_message_id: `m${n}`, run_id: `r${n}`, conversation_id: `c${n}` });
const over = (text: string, phase: RunState['phase'] = 'done'): RunState => ({ ...emptyRun, phase, text, done: null });
const mine = () => keptOf(kept.get(), 'paliadin');

function ask(n: number, text: string, answer: string): void {
  asked('paliadin', text, accepted(n));
  settled('paliadin', `r${n}`, over(answer));
}

describe('a conversation of which the server keeps nothing', () => {
  beforeEach(() => {
    as(null);
    localStorage.clear();
    as('ada');
  });

  // What the browser keeps of a surface of which the server keeps nothing.
  it('lies in this browser, and goes along with the next question as whole turns', () => {
    ask(1, 'What is due?', 'Two things [1].');
    asked('paliadin', 'And then?', accepted(2));
    expect(mine().active).toEqual({ run: 'r2', conversation: 'c2' });
    expect(JSON.parse(localStorage.getItem('liminal.kept')!)).toMatchObject({ owner: 'ada', by: { paliadin: { messages: [{ content: 'What is due?' }, { content: 'Two things [1].' }, { content: 'And then?' }] } } });
    expect(historyOf(mine().messages)).toEqual([
      { role: 'user', content: 'What is due?' },
      { role: 'assistant', content: 'Two things [1].' },
    ]);
    settled('paliadin', 'r2', over('', 'failed'));
    expect(mine()).toMatchObject({ active: null, messages: { length: 3 } });
  });

  it('leaves the oldest turns out of what goes along where it is long', () => {
    for (let n = 1; n <= 5; n++) ask(n, `Question ${n}`, 'ü'.repeat(30_000));
    const along = historyOf(mine().messages);
    expect(along.map((one) => one.content.slice(0, 10)).filter((one) => one.startsWith('Q'))).toEqual(['Question 3', 'Question 4', 'Question 5']);
    expect(new TextEncoder().encode(JSON.stringify(along)).length).toBeLessThan(256 * 1024);
  });

  // Requirements: GRND-47 (cleared at sign-out)
  it('is gone at sign-out, and nobody else’s', () => {
    ask(1, 'A secret', 'Kept');
    as(null);
    expect(localStorage.getItem('liminal.kept')).toBeNull();
    expect(mine().messages).toEqual([]);
    as('bob');
    expect(mine().messages).toEqual([]);
    localStorage.setItem('liminal.kept', JSON.stringify({ owner: 'ada', by: { paliadin: { messages: [{ content: 'A secret' }], active: null } } }));
    dispatchEvent(new StorageEvent('storage', { key: 'liminal.kept' }));
    expect(mine().messages).toEqual([]);
    expect(localStorage.getItem('liminal.kept')).toBeNull();
  });

  it('begins anew when it is asked to', () => {
    ask(1, 'What is due?', 'Two things.');
    begin('paliadin');
    expect(mine().messages).toEqual([]);
    expect(localStorage.getItem('liminal.kept')).toBeNull();
  });
});
