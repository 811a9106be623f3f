import { describe, expect, it } from 'vitest';
import { adapterFixture, applied, eventFixture, learningFixture, lessonFixture } from './fixtures.ts';
import { countOf, groupsOf, standingOf } from './standing.ts';

describe('how a lesson stands', () => {
  const learning = learningFixture({ generative: true });
  const waiting = lessonFixture('l', { followed: false });
  const patched = (status: 'pending' | 'approved' | 'rejected' | 'rolled_back' | 'applied', may_decide = false) => adapterFixture('a', { patch: { ...applied, status, may_decide } });

  it.each([
    ['followed', lessonFixture('l'), patched('applied'), learning],
    ['off', lessonFixture('l', { state: 'off' }), patched('applied'), learning],
    ['rejected', lessonFixture('l', { state: 'rejected', followed: false }), patched('applied'), learning],
    ['checked', waiting, patched('pending'), learning],
    ['waits', waiting, patched('pending', true), learning],
    ['waits', waiting, patched('approved', true), learning],
    ['refused', waiting, patched('rejected'), learning],
    ['undone', waiting, patched('rolled_back'), learning],
    ['later', waiting, patched('applied'), learning],
    ['later', waiting, null, learning],
    ['paused', lessonFixture('l'), patched('applied'), { ...learning, mode: 'off' as const }],
    ['paused', lessonFixture('l'), patched('applied'), { ...learning, settings: { ...learning.settings, personal: false } }],
  ] as const)('%s', (standing, lesson, adapter, of) => {
    expect(standingOf(lesson, adapter, of)).toBe(standing);
  });

  it('says that quoting answers follow only what a program can follow', () => {
    const quoting = learningFixture();
    expect(standingOf(lessonFixture('l'), null, quoting)).toBe('followed');
    expect(standingOf(lessonFixture('l', { directive: null }), null, quoting)).toBe('unable');
  });
});

it('puts lessons of all answers first, and each situation with its adapter', () => {
  const groups = groupsOf({
    adapters: [adapterFixture('skill', { cluster_id: 'k' }), adapterFixture('persona')],
    lessons: [
      lessonFixture('1', { cluster_id: 'k', adapter_id: 'skill' }),
      lessonFixture('2', { adapter_id: '' }), // of an adapter that is not named yet
      lessonFixture('3', { cluster_id: 'k', adapter_id: 'skill' }),
      lessonFixture('4', { cluster_id: 'other', adapter_id: '' }),
    ],
  });
  expect(groups.map((one) => [one.cluster, one.adapter?.id ?? null, one.lessons.map(({ id }) => id)])).toEqual([
    ['', 'persona', ['2']],
    ['k', 'skill', ['1', '3']],
    ['other', null, ['4']],
  ]);
});

it('counts a correction as a note, and a thumb alone as a thumb', () => {
  const said = [eventFixture(1), eventFixture(2, { notes: '', corrected: true }), eventFixture(3, { notes: '' })];
  expect(countOf(said)).toEqual({ notes: 2, thumbs: 1 });
});
