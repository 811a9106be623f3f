// What tests of the page Learning show.

import type { Adapter, AdapterTrial, AdapterVersion, Cluster, Comparison, Learning, LearningEvent, LearnedAdapter, LearnedGate, Lesson, Training } from '../api/learning.ts';

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

const untried: LearnedGate = { state: 'no_model', held: 0, better: 0, worse: 0, alike: 0, p: 0 };

export const applied = {
  id: 7,
  status: 'applied',
  justification: 'What you said of answers: 1 lesson from 3 events.',
  by_rule: true,
  may_decide: false,
  may_roll_back: true,
  gate: untried,
  trial: null,
} as const;

export function trialFixture(more: Partial<AdapterTrial> = {}): AdapterTrial {
  const none = { value: 0, low: 0, high: 1 };
  return {
    share: 50,
    since: '2026-11-27T01:00:00Z',
    until: '2026-11-28T01:00:00Z',
    runs: { before: 7, after: 9 },
    disliked: { before: none, after: none },
    rules: ['thumbs_down_share.after > thumbs_down_share.before + 0.15 and runs.after >= 10'],
    ...more,
  };
}

export function rowFixture(id: string, more: Partial<Adapter> = {}): Adapter {
  return { ...adapterFixture(id), situation: '', weights: 0, use: { runs: 16, score: 0.5, last_at: '2026-11-27T02:00:00Z' }, ...more };
}

export function versionFixture(version: number, more: Partial<AdapterVersion> = {}): AdapterVersion {
  return { version, state: 'earlier', at: '2026-11-27T01:00:00Z', by: 'llm', note: '', why: [], patch_id: null, lessons: 2, weights: 0, base: '', peft: false, marked: false, ...more };
}

export function comparisonFixture(more: Partial<Comparison> = {}): Comparison {
  return { run_id: 'r', status: 'waiting', problem: '', question: 'Why?', first: 'One.', second: 'Two.', conversation_id: 'c', choice: '', told: null, ...more };
}

export function trainingFixture(id: string, more: Partial<Training> = {}): Training {
  return {
    id, adapter_id: 'a', cluster_id: '', kind: 'sft', status: 'queued', stage: 'queue', attempts: 0, run_id: '', reason: '', why: [], place: null, events: 0, tokens: 0, version: 0, loss: null, report: null,
    created_at: '2026-11-27T01:00:00Z', started_at: null, ended_at: null, ...more,
  };
}
