import { describe, expect, it } from 'vitest';
import { messageFixture } from '../api/fixtures.ts';
import { keys, queryClient } from '../api/queries.ts';
import { exportDrafts, writeDraft } from '../lib/drafts.ts';
import { beside, dropDraftsOf, edit, editing } from './change.ts';

it('drafts go with their conversation, those of its messages and questions too', () => {
  const thread = { data: [messageFixture('m1', 'user')], pending_interrupts: [{ interrupt_id: 'i1' }] };
  queryClient.setQueryData(keys.thread('c1'), thread);
  for (const key of ['c1', 'c2', 'edit:m1', 'edit:m2', 'answer:i1']) writeDraft(key, 'words');
  dropDraftsOf('c1');
  expect(Object.keys(JSON.parse(exportDrafts()) as object)).toEqual(['c2', 'edit:m2']);
});

describe('the versions of a message', () => {
  const ids = ['a', 'b', 'c'];

  it('stand one beside the other, with an end on either side', () => {
    const at = (n: number) => messageFixture(ids[n]!, 'user', { versions: { ids, at: n } });
    expect([beside(at(0), -1), beside(at(0), 1)]).toEqual([null, 'b']);
    expect([beside(at(1), -1), beside(at(1), 1)]).toEqual(['a', 'c']);
    expect([beside(at(2), -1), beside(at(2), 1)]).toEqual(['b', null]);
  });

  it('are none where there is one', () => {
    expect(beside(messageFixture('a', 'user'), 1)).toBeNull();
  });

  it('are changed one at a time, in each conversation', () => {
    edit('one', 'a');
    edit('other', 'x');
    edit('one', 'b');
    expect(editing.get()).toEqual({ one: 'b', other: 'x' });
    edit('one', null);
    expect(editing.get()).toEqual({ other: 'x' });
  });
});
