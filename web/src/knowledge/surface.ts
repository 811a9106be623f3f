// What a workflow's conversations look like: its own words, where it has some.

import { createContext } from 'react';
import type { Workflow } from '../api/types.ts';
import { language, type Language } from '../i18n/index.ts';
import { useStore } from '../lib/store.ts';
import { chosenWorkflow } from './choice.ts';
import { choiceOf, typedOf, useWorkflows, workflowOf } from './workflows.ts';

/** The words in one language; empty where a workflow has none of its own. */
export interface Surface {
  title: string;
  tagline: string;
  empty: string;
  placeholder: string;
  thinking: string;
  /** The colour of its mark, such as #1b6a61. */
  accent: string;
  starters: string[];
}

/** What the conversation that is shown looks like; null: as any other. */
export const SurfaceContext = createContext<Surface | null>(null);

/** What the workflow looks like that is chosen for a conversation. */
export function useSurface(draftKey: string, kept?: string): Surface | null {
  const chosen = useStore(chosenWorkflow);
  const locale = useStore(language);
  const offered = useWorkflows();
  const asked = workflowOf(chosen, draftKey, offered, kept);
  if (asked === '') return null;
  const typed = typedOf(choiceOf(chosen, draftKey, kept, offered)) !== null;
  const found = offered?.find((one) => one.id === asked) ?? (typed ? offered?.find((one) => one.name === asked) : undefined);
  return found ? surfaceOf(found, locale) : null;
}

const mostStarters = 10; // as many as a document has (workflow.chat)

/**
 * The words a workflow brings along. A document may be older than the member
 * and hold something else there: that is none.
 */
export function surfaceOf(workflow: Workflow, locale: Language): Surface | null {
  const surface = record(workflow.schema?.surface);
  const say = (member: string) => inLanguage(surface[member], locale);
  const title = say('title');
  if (title === '') return null;
  const starters = Array.isArray(surface['starters']) ? surface['starters'] : [];
  return {
    title,
    tagline: say('tagline'),
    empty: say('empty'),
    placeholder: say('placeholder'),
    thinking: say('thinking'),
    accent: colourOf(surface['accent']),
    starters: [...new Set(starters.map((one) => inLanguage(one, locale)))].filter(Boolean).slice(0, mostStarters),
  };
}

/** A colour and nothing else that a style sheet might take. */
function colourOf(value: unknown): string {
  return typeof value === 'string' && /^#[0-9a-f]{6}$/.test(value) ? value : '';
}

/** A text in a language, or in English where it is not there. */
function inLanguage(text: unknown, locale: Language): string {
  const { [locale]: own, en } = record(text);
  const said = typeof own === 'string' && own.trim() !== '' ? own : en;
  return typeof said === 'string' ? said.trim() : '';
}

function record(value: unknown): Record<string, unknown> {
  return value !== null && typeof value === 'object' ? (value as Record<string, unknown>) : {};
}
