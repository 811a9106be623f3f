// What waits for the person, wherever it is: one list of several kinds. What waits for a
// program is apart: its person can do nothing about it but skip it.

import { useQuery } from '@tanstack/react-query';
import { ask } from '../api/ask.ts';
import { changeKeys, type OpenQuestion } from '../api/changes.ts';
import type { LearnedAdapter } from '../api/learning.ts';
import { useWaitingNotes, type WaitingNotes } from '../api/palace.ts';

export interface Waiting {
  key: string;
  kind: 'question' | 'runQuestion' | 'decision' | 'lesson' | 'notes' | 'program';
  text: string; // of notes how many there are
  about: string; // what its run was asked; '' where nobody knows
  since: string; // when it began to wait; '' where nobody knows
  href: string;
}

function useQuestions(): OpenQuestion[] | undefined {
  return useQuery({
    queryKey: [...changeKeys.all, 'open'],
    queryFn: async ({ signal }) => (await ask('listInterrupts', { signal })).data,
    refetchInterval: 15_000,
  }).data;
}

/** Latest first. */
export function useWaitingList(): Waiting[] {
  const questions = useQuestions();
  const learning = useQuery({ queryKey: ['learning', 'waits'], queryFn: ({ signal }) => ask('learning', { signal, once: true }), staleTime: 60_000 }).data;
  return waitingList(questions ?? [], learning?.adapters ?? [], useWaitingNotes());
}

/**
 * The questions of runs, the adapters of one's own that wait for one's decision and ask by no
 * question, and the notes that models propose: those are one row, for they come by the dozen.
 */
export function waitingList(questions: OpenQuestion[], adapters: LearnedAdapter[], notes: WaitingNotes | null): Waiting[] {
  const asked = new Set(questions.map((one) => one.patch_id));
  const lessons = adapters.filter(({ patch }) => patch?.may_decide && !asked.has(patch.id));
  return [
    ...questions.filter((one) => one.waits_for === 'person' && !watched(one)).map(ofQuestion),
    ...lessons.map((one): Waiting => ({ key: one.id, kind: 'lesson', text: one.name, about: '', since: '', href: '/settings/learning' })),
    ...(notes ? [{ key: 'notes', kind: 'notes', text: notes.count, about: '', since: notes.since, href: '/operate/palace/notes' } satisfies Waiting] : []),
  ].toSorted((a, b) => b.since.localeCompare(a.since));
}

/** What waits for the programs that began it, latest first. */
export function useProgramsList(): Waiting[] {
  return programsList(useQuestions() ?? []);
}

export function programsList(questions: OpenQuestion[]): Waiting[] {
  return questions
    .filter((one) => one.waits_for === 'program')
    .map((one): Waiting => ({ ...ofQuestion(one), kind: 'program' }))
    .toSorted((a, b) => b.since.localeCompare(a.since));
}

/** A version that is only watched waits for its time, not for a person. */
function watched(question: OpenQuestion): boolean {
  return question.conversation_id === null && Boolean(question.options?.some((option) => option.id === 'keep'));
}

function ofQuestion(one: OpenQuestion): Waiting {
  const common = { key: one.interrupt_id, text: one.message, about: one.asked ?? '', since: one.created_at };
  if (one.patch_id) return { ...common, kind: 'decision', href: `/operate/patches/${one.patch_id}` };
  if (one.conversation_id) return { ...common, kind: 'question', href: `/c/${one.conversation_id}` };
  return { ...common, kind: 'runQuestion', href: `/operate/runs/${one.run_id}` };
}
