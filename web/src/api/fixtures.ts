// Whole shapes for tests that are about a part of one.

import type { Interrupt, Message, User, Workflow } from './types.ts';

export function userFixture(id: string, more: Partial<User> = {}): User {
  return { id, email: '', handle: '', role: 'user', plan: 'free', locale: 'en', tenant_id: '', mfa_enabled: false, single_session: false, unverified: false, ...more };
}

export function messageFixture(id: string, role: Message['role'], more: Partial<Message> = {}): Message {
  return { id, role, sender: role, content: '', content_struct: null, seq: 1, created_at: '', run_id: null, token_count_in: 0, token_count_out: 0,
    versions: null, feedback: null, meta: {}, ...more };
}

export function interruptFixture(more: Partial<Interrupt> = {}): Interrupt {
  return { interrupt_id: '', run_id: '', conversation_id: '', interrupt_type: 'doc_choice', message: '', options: null, status: 'pending', created_at: '', ...more };
}

export function workflowFixture(id: string, more: Partial<Workflow> = {}): Workflow {
  return {
    id,
    type: 'workflow.chat',
    name: id,
    description: '',
    visibility: 'global',
    version: 1,
    status: 'active',
    owner_id: null,
    opened: false,
    rollout: null,
    schema: {},
    created_by: 'system',
    created_at: '',
    updated_at: '',
    ...more,
  };
}
