import { describe, expect, it } from 'vitest';
import { messageFixture } from './fixtures.ts';
import { preceded, renewed, withSent } from './thread.ts';
import type { Message, Thread } from './types.ts';

function message(seq: number, id = `m${seq}`): Message {
  return messageFixture(id, seq % 2 === 1 ? 'user' : 'assistant', { content: id, seq, run_id: `r${Math.ceil(seq / 2)}` });
}

function thread(data: Message[], earlier_cursor: string | null = null): Thread {
  return { thread_id: 'c', data, next_cursor: null, earlier_cursor, pending_interrupt: null, pending_interrupts: [], active_run: null };
}

function range(from: number, to: number): Message[] {
  return Array.from({ length: to - from + 1 }, (_, n) => message(from + n));
}

const idsOf = (one: Thread | Pick<Thread, 'data'> | undefined) => one?.data.map((each) => each.id);

describe('the window on a conversation', () => {
  it('keeps what was loaded before the newest', () => {
    const next = renewed(thread(range(1, 10), 'start'), thread(range(6, 12), 'c6'));
    expect(idsOf(next)).toEqual(idsOf({ data: range(1, 12) }));
    expect(next.earlier_cursor).toBe('start');
  });

  it('begins anew where the newest do not follow on what is held', () => {
    const next = renewed(thread(range(1, 10), null), thread(range(80, 90), 'c80'));
    expect(idsOf(next)).toEqual(idsOf({ data: range(80, 90) }));
    expect(next.earlier_cursor).toBe('c80');
  });

  it('forgets a tail that another version took the place of', () => {
    const fresh = thread([message(3), message(4), message(5, 'x5'), message(6, 'x6')], 'c3');
    expect(idsOf(renewed(thread(range(1, 10), null), fresh))).toEqual(['m1', 'm2', 'm3', 'm4', 'x5', 'x6']);
  });

  it('puts a page before what is held, once', () => {
    const held = thread(range(11, 20), 'c11');
    const page = thread(range(1, 10), null);
    const more = preceded(held, page, 'c11');
    expect(idsOf(more)).toEqual(idsOf({ data: range(1, 20) }));
    expect(more?.earlier_cursor).toBeNull();
    expect(preceded(more, page, 'c11')).toBe(more);
  });
});

describe('a message just accepted', () => {
  it('stands at the end', () => {
    const sent = withSent(thread(range(1, 4), 'c1'), message(0, 'new'));
    expect(idsOf(sent)).toEqual(['m1', 'm2', 'm3', 'm4', 'new']);
    expect(sent.data.at(-1)?.seq).toBe(5);
    expect(sent.earlier_cursor).toBe('c1');
  });

  it('is there once, also when the server told of it first', () => {
    expect(idsOf(withSent(thread(range(1, 3)), message(3)))).toEqual(['m1', 'm2', 'm3']);
  });

  it('takes the place of what it replaces and of all that came after, as another version', () => {
    const sent = withSent(thread(range(1, 6)), message(0, 'new'), 'm3');
    expect(idsOf(sent)).toEqual(['m1', 'm2', 'new']);
    expect(sent.data.at(-1)).toMatchObject({ seq: 3, versions: { ids: ['m3', 'new'], at: 1 } });
    const again = withSent(thread(sent.data), message(0, 'newer'), 'new');
    expect(again.data.at(-1)?.versions).toEqual({ ids: ['m3', 'new', 'newer'], at: 2 });
  });
});
