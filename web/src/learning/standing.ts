// How lessons stand: to which answers they belong, and whether these follow them.

import { isChecked, type Learning, type LearnedAdapter, type Lesson } from '../api/learning.ts';

/**
 * followed: answers follow it. unable: an answer that only quotes cannot. checked: a
 * change that brings it is on its way. waits: for the person's decision. refused, undone: the person decided against it.
 * rejected: answers were tried with it, and were worse. paused: nothing learnt
 * is followed. later: the next run decides.
 */
export type Standing = 'followed' | 'unable' | 'checked' | 'waits' | 'refused' | 'undone' | 'off' | 'rejected' | 'paused' | 'later';

export function standingOf(lesson: Lesson, adapter: LearnedAdapter | null, learning: Pick<Learning, 'mode' | 'settings' | 'generative'>): Standing {
  if (lesson.state !== 'active') return lesson.state;
  if (!learns(learning)) return 'paused';
  if (lesson.followed) return learning.generative || lesson.directive ? 'followed' : 'unable';
  if (adapter && isChecked(adapter)) return 'checked';
  switch (adapter?.patch?.status) {
    case 'pending':
    case 'approved':
      return 'waits';
    case 'rejected':
      return 'refused';
    case 'rolled_back':
      return 'undone';
    default:
      return 'later';
  }
}

/** Whether anything is learnt of this person, and followed. */
export function learns({ mode, settings }: Pick<Learning, 'mode' | 'settings'>): boolean {
  return mode !== 'off' && settings.personal;
}

/** What goes together: lessons of one situation, with the adapter that carries them. */
export interface Group {
  cluster: string; // empty: of all answers
  adapter: LearnedAdapter | null;
  lessons: Lesson[];
}

/** The lessons by what they are of: those of all answers first, then situation by situation. */
export function groupsOf({ adapters, lessons }: Pick<Learning, 'adapters' | 'lessons'>): Group[] {
  const found = new Map<string, Group>();
  for (const lesson of lessons) {
    const group = found.get(lesson.cluster_id) ?? { cluster: lesson.cluster_id, adapter: null, lessons: [] };
    group.adapter ??= adapters.find((one) => one.id === lesson.adapter_id) ?? null;
    group.lessons.push(lesson);
    found.set(lesson.cluster_id, group);
  }
  for (const group of found.values()) group.adapter ??= adapters.find((one) => one.cluster_id === group.cluster) ?? null;
  return [...found.values()].toSorted((a, b) => Number(a.cluster !== '') - Number(b.cluster !== ''));
}

/** How many of the sources say something in words, and how many are a thumb alone. */
export function countOf(sources: Lesson['sources']): { notes: number; thumbs: number } {
  const notes = sources.filter((one) => one.notes !== '' || one.corrected).length;
  return { notes, thumbs: sources.length - notes };
}
