// A patch, a report and a run as the server tells them, for tests.

import type { Patch, PatchEvent, Report, Watch } from '../api/changes.ts';
import type { OperatedRun } from '../api/runs.ts';

const node = (id: string, tool: string, next = 'node_end') => ({ id, type: 'tool_call', tool, inputs: { message: '${input.message}' }, next });

export const before = {
  kind: 'workflow.chat',
  entrypoint: 'node_classify',
  nodes: [
    { ...node('node_classify', 'llm.intent_classifier_v1', 'node_route'), outputs: ['intent'] },
    {
      id: 'node_route',
      type: 'switch',
      branches: [
        { when: "intent in ['qa_with_docs','analysis']", next: 'node_rag' },
        { when: "intent == 'code_edit'", next: 'node_code_agent' },
        { when: 'true', next: 'node_plain' },
      ],
    },
    node('node_rag', 'rag.answer_with_context_v1'),
    node('node_code_agent', 'agent.code_v1'),
    node('node_plain', 'llm.generic_chat_v1'),
    { id: 'node_end', type: 'end' },
  ],
  timeout_ms: 60_000,
};

export const after = {
  ...before,
  nodes: before.nodes.map((one) => {
    if (one.id === 'node_route' && 'branches' in one) return { ...one, branches: [...one.branches!.slice(0, 2), { when: "intent == 'research'", next: 'node_rag' }, one.branches![2]!] };
    return one.id === 'node_rag' ? { ...one, max_retries: 2 } : one;
  }),
  timeout_ms: 45_000,
};

const runID = (n: number) => `018f${n}c52-7e00-7aaa-8bbb-0123456789ab`;

export const report: Report = {
  sample: {
    wanted: 200,
    taken: 50,
    population: 412,
    people: 7,
    oldest: '2026-11-01T08:00:00Z',
    newest: '2026-11-20T09:00:00Z',
    strata: [
      { name: 'recent', population: 200, taken: 25 },
      { name: 'failed', population: 12, taken: 10 },
    ],
  },
  base_version: 7,
  after_version: 0,
  compared: 50,
  moved: 11,
  unknown: 0,
  failed: { before: 2, after: 1 },
  cut: { before: 0, after: 0 },
  questions: { before: 4, after: 6 },
  new_questions: 2,
  vanished_questions: 0,
  model_calls: { before: 100, after: 111 },
  tool_calls: { before: 38, after: 49 },
  by_tool: { 'rag.answer_with_context_v1': { before: 38, after: 49 }, 'llm.generic_chat_v1': { before: 12, after: 1 } },
  cost_usd: { before: 0.41, after: 0.47 },
  median_ms: { before: 1240, after: 1610 },
  gates: {},
  mean_gates: { before: 0, after: 0 },
  coverage: { nodes: 6, nodes_seen: 5, branches: 4, branches_seen: 3, unseen_nodes: ['node_code_agent'], unseen_branches: ["node_route[1]: intent == 'code_edit'"] },
  places: [{ after: 'node_route', old: 'node_plain', new: 'node_rag', runs: 11 }],
  examples: {
    moved: [1, 2].map((n) => ({
      run_id: runID(n),
      at: '2026-11-19T10:00:00Z',
      old: ['node_classify', 'node_route', 'node_plain', 'node_end'],
      new: ['node_classify', 'node_route', 'node_rag', 'node_end'],
      part: 2,
      message: '',
    })),
  },
  verdict: 'pass',
  reasons: [],
  took_ms: 210,
};

const events: PatchEvent[] = [
  { at: '2026-11-20T09:00:00Z', by: null, what: 'proposed', reason: '', data: null },
  { at: '2026-11-20T09:00:01Z', by: null, what: 'checked', reason: '', data: null },
  { at: '2026-11-20T09:00:03Z', by: null, what: 'rehearsed', reason: '50 recorded runs: 11 go another way.', data: null },
];

const no = { ok: false, why: '' };
const yes = { ok: true, why: '' };

/** Where no act is left. */
export const nothing: Patch['may'] = { approve: no, reject: no, apply: no, roll_back: no, promote: no, withdraw: no, rebase: no, rehearse: no };

export const patch: Patch = {
  id: 42,
  status: 'pending',
  stage: 'deciding',
  proposer: 'system_llm',
  proposed_by: null,
  why: [],
  justification: '62 % of analysis questions this week cited no source. Routing them through retrieval first should raise grounded answers.',
  changes: [
    {
      artifact_id: 'a1',
      kind: 'workflow.chat',
      type: 'workflow.chat',
      name: 'default_chat',
      title: '',
      base_version: 7,
      current_version: 7,
      patch: [
        { op: 'add', path: '/nodes/1/branches/2', value: { when: "intent == 'research'", next: 'node_rag' } },
        { op: 'add', path: '/nodes/2/max_retries', value: 2 },
        { op: 'replace', path: '/timeout_ms', value: 45_000 },
      ],
      before,
      after,
      now: null,
      creates: false,
      report,
    },
  ],
  checks: ['schema', 'references', 'expressions', 'limits', 'rehearsal'].map((name) => ({ name, state: 'ok', problems: [], at: null })),
  verdict: 'pass',
  reasons: [],
  needs: 1,
  approvals: [],
  trial: null,
  unknown: 'unknown',
  rebased_from: null,
  rebased_to: null,
  run_id: runID(9),
  decided_at: null,
  applied_at: null,
  created_at: '2026-11-20T09:00:00Z',
  expires_at: '2026-12-04T09:00:03Z',
  temporal_url: 'http://127.0.0.1:8233/namespaces/default/workflows/patch:42',
  events,
  may: { ...nothing, approve: yes, reject: yes, rehearse: yes },
};

/** The patch further on its way. */
export function patchAt(change: Partial<Patch>): Patch {
  return { ...patch, ...change };
}

export const states: Record<string, Patch> = {
  warned: patchAt({
    verdict: 'warn',
    reasons: ['More runs fail with the change: 2 → 5 of 50.'],
    checks: patch.checks.map((check) =>
      check.name === 'references' ? { ...check, state: 'warning', problems: [{ path: '/nodes/2', message: '2 paused runs stand at node_rag of version 7; they finish on it.' }] } : check,
    ),
    changes: [{ ...patch.changes[0]!, report: { ...report, failed: { before: 2, after: 5 } } }],
  }),
  second: patchAt({
    verdict: 'second',
    needs: 2,
    reasons: ['26 of 50 runs would go another way.'],
    approvals: [{ by: { id: 'u1', name: 'ann' }, at: '2026-11-20T10:00:00Z', reason: '' }],
    may: { ...patch.may, approve: { ok: false, why: 'You have approved this already; another person has to as well.' } },
  }),
  blocked: patchAt({ verdict: 'block', reasons: ['Half of the runs fail with the change: 2 → 25 of 50.'], may: { ...patch.may, approve: { ok: false, why: 'The rehearsal blocks it.' } } }),
  own: patchAt({
    proposer: 'human_admin',
    proposed_by: { id: 'me', name: 'ann' },
    may: { ...patch.may, approve: { ok: false, why: 'You proposed this yourself; another person decides.' }, reject: no, withdraw: yes },
  }),
  approved: patchAt({ status: 'approved', stage: 'applying', may: { ...nothing, apply: yes } }),
  moved: patchAt({ status: 'approved', stage: 'applying', changes: [{ ...patch.changes[0]!, current_version: 9 }], may: { ...nothing, rebase: yes } }),
  watched: patchAt({
    status: 'applied',
    stage: 'watching',
    applied_at: '2026-11-20T11:00:00Z',
    trial: { share: 10, hours: 24, roll_back: true },
    changes: [{ ...patch.changes[0]!, applied_version: 8, current_version: 8 }],
    may: { ...nothing, roll_back: yes, promote: yes },
  }),
  invalid: patchAt({
    status: 'invalid',
    stage: 'settled',
    verdict: '',
    expires_at: null,
    checks: [
      { name: 'schema', state: 'ok', problems: [], at: null },
      {
        name: 'references',
        state: 'failed',
        problems: [{ path: '/nodes/1/branches/2/next', message: 'There is no node node_research.', hint: 'Name one of the nodes, or add it.' }],
        at: null,
      },
      ...['expressions', 'limits', 'rehearsal'].map((name) => ({ name, state: 'waiting' as const, problems: [], at: null })),
    ],
    changes: [{ ...patch.changes[0]!, report: null }],
    may: nothing,
  }),
  rejected: patchAt({
    status: 'rejected',
    stage: 'settled',
    may: nothing,
    events: [...events, { at: '2026-11-20T12:00:00Z', by: { id: 'u1', name: 'ann' }, what: 'rejected', reason: 'It makes every answer slower.', data: null }],
  }),
};

export const watch: Watch = {
  artifact_id: 'a1',
  earlier: { since: '2026-11-19T11:00:00Z', until: '2026-11-20T11:00:00Z' },
  over: false,
  versions: { before: 7, after: 8 },
  since: '2026-11-20T11:00:00Z',
  until: '2026-11-21T11:00:00Z',
  runs: { before: 361, after: 40 },
  rows: [
    { name: 'failed_share', unit: 'share', before: { value: 0.012, low: 0.004, high: 0.03 }, after: { value: 0.31, low: 0.18, high: 0.46 }, worse: true },
    { name: 'ms', unit: 'ms', before: { value: 1240, low: 1180, high: 1310 }, after: { value: 1290, low: 1050, high: 1700 }, worse: null },
    { name: 'cost', unit: 'usd', before: { value: 0.008, low: 0.007, high: 0.009 }, after: { value: 0.009, low: 0.006, high: 0.012 }, worse: null },
  ],
  rule: [{ when: 'failed_share.after > failed_share.before + 0.05 and runs.after >= 20', say: 'More runs fail than before.', met: false }],
  trial: { share: 10, hours: 24, roll_back: true },
};

const at = (second: number) => `2026-11-20T09:00:0${second}.120Z`;

export const run: OperatedRun = {
  id: runID(1),
  kind: 'chat',
  status: 'done',
  workflow_id: 'chat:c1:r1',
  conversation_id: null,
  artifact: { id: 'a1', name: 'default_chat', version: 7 },
  pins: [
    { id: 'a1', name: 'default_chat', version: 7 },
    { id: 'p1', name: 'default', version: 1 },
  ],
  request_id: 'q',
  result: { usage: { cost_usd: 0.012 } },
  error: null,
  created_at: at(0),
  started_at: at(0),
  ended_at: at(4),
  temporal_url: 'http://127.0.0.1:8233/x',
  recorded: true,
  trace: {
    path: [
      { name: 'auth', ms: 1 },
      { name: 'contexts', ms: 4, note: 'full' },
    ],
    steps: [
      { node: 'node_classify', type: 'tool_call', effect: 'node_classify', visit: 1, attempt: 1, started: at(0), ended: at(1), outcome: 'ok' },
      { node: 'node_route', type: 'switch', visit: 1, started: at(1), ended: at(1), outcome: 'ok', condition: "intent in ['qa_with_docs','analysis']", values: { intent: 'analysis' } },
      { node: 'node_rag', type: 'tool_call', effect: 'node_rag', visit: 1, attempt: 1, started: at(1), ended: at(2), outcome: 'retried', detail: 'The index was busy.' },
      { node: 'node_rag', type: 'tool_call', effect: 'node_rag', visit: 1, attempt: 2, started: at(2), ended: at(4), outcome: 'ok' },
      { node: 'node_end', type: 'end', visit: 1, started: at(4), ended: at(4), outcome: 'ok' },
    ],
    calls: [
      { effect: 'node_classify', attempt: 1, node: 'node_classify', tool: 'llm.intent_classifier_v1', arguments: { message: 'Compare the two policies' }, result: { intent: 'analysis', confidence: 0.93 }, status: 'ok', ms: 812 },
      { effect: 'node_rag', attempt: 2, node: 'node_rag', tool: 'rag.answer_with_context_v1', arguments: { message: 'Compare the two policies' }, result: { answer: 'They differ in the deadline.' }, status: 'ok', ms: 1900 },
    ],
    routing: { policy: { id: 'p1', name: 'default', version: 1 }, adapters: ['legal'], gates: { legal: 0.62 }, rules: [{ rule: 'near_cluster', fired: true, adapters: ['legal'], weights: { legal: 0.62 } }, { rule: 'always_base', fired: false }], left: [] },
  },
};
