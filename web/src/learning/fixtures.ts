// What tests of the page Learning show.

import type { Cluster, Learning, LearningEvent, LearnedAdapter, Lesson } from '../api/learning.ts';

export function eventFixture(event_id: number, more: Partial<LearningEvent> = {}): LearningEvent {
  return { event_id, signal: 'dislike', notes: 'Too long.', corrected: false, question: 'How long?', conversation_id: 'c', message_id: 'm', at: '2026-11-27T01:00:00Z', excluded: false, ...more };
}

export function lessonFixture(id: string, more: Partial<Lesson> = {}): Lesson {
  return { id, text: `Lesson ${id}.`, directive: { kind: 'length', value: 'short' }, state: 'active', made_by: 'rule', strength: 1, adapter_id: 'a', cluster_id: '', followed: true, sources: [eventFixture(1)], ...more };
}

export function adapterFixture(id: string, more: Partial<LearnedAdapter> = {}): LearnedAdapter {
  return { id, name: id, type: 'persona', cluster_id: '', status: 'active', version: 1, lessons: [], patch: null, ...more };
}

export function learningFixture(more: Partial<Learning> = {}): Learning {
  return { mode: 'text', generative: false, settings: { personal: true, shared: false, by_rule: true }, waiting: 0, last_run: null, adapters: [], lessons: [], ...more };
}

export function clusterFixture(id: string, more: Partial<Cluster> = {}): Cluster {
  return { id, label: `Situation ${id}`, description: '', size: 6, strength: 0.8, status: 'active', label_by: 'rule', created_at: '', updated_at: '', ...more };
}

export const applied = { id: 7, status: 'applied', justification: 'What you said of answers: 1 lesson from 3 events. Handed in without a trial: no language model is configured.', by_rule: true, may_decide: false, may_roll_back: true } as const;
