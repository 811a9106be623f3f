// The workflows a person may choose for a conversation (UI-06).

import { useQuery } from '@tanstack/react-query';
import { ask } from '../api/ask.ts';
import { session } from '../api/session.ts';
import type { Workflow } from '../api/types.ts';
import { useStore } from '../lib/store.ts';

/** Those that are offered; undefined until it is known. */
export function useWorkflows(): Workflow[] | undefined {
  const { user } = useStore(session);
  const all = useQuery({
    queryKey: ['workflows'],
    queryFn: async ({ signal }) => (await ask('listArtifacts', { query: { type: 'workflow', status: 'active', limit: 100 }, signal })).data,
    staleTime: 30_000,
  }).data;
  return all?.filter((one) => isOffered(one, user?.id));
}

/** Whether a person is offered a workflow to choose: their own, and what has a title. A draft waits for its patch, which may be withdrawn, and answers nobody. */
export function isOffered(workflow: Workflow, user: string | undefined): boolean {
  if (workflow.status === 'draft') return false;
  return titleOf(workflow) !== '' || (user !== undefined && workflow.owner_id === user);
}

/** What people choose a workflow by; empty for one that is chosen by its name. */
export function titleOf(workflow: Workflow): string {
  const title = workflow.schema?.title;
  return typeof title === 'string' ? title.trim() : '';
}

/** Marks what somebody typed, which may be any id or name: the server knows whether it is one they may use. */
const byHand = 'by:';

export function asTyped(text: string): string {
  return byHand + text;
}

/** What was typed; null when the choice is one of the list. */
export function typedOf(choice: string | undefined): string | null {
  return choice?.startsWith(byHand) ? choice.slice(byHand.length) : null;
}

/** What was chosen on this page, else what the server keeps for the conversation, as a choice. */
export function choiceOf(chosen: Record<string, string>, draftKey: string, kept: string | undefined, offered: Workflow[] | undefined): string {
  const here = chosen[draftKey];
  if (here !== undefined) return here;
  const id = kept ?? '';
  return id === '' || !offered || offered.some((one) => one.id === id) ? id : asTyped(id);
}

/** The chosen workflow, unless it is one of those that are no longer offered. */
export function workflowOf(chosen: Record<string, string>, draftKey: string, offered: Workflow[] | undefined, kept?: string): string {
  const id = choiceOf(chosen, draftKey, kept, offered);
  const typed = typedOf(id);
  if (typed !== null) return typed.trim();
  return offered && !offered.some((one) => one.id === id) ? '' : id;
}
