import { beforeEach, describe, expect, it, vi } from 'vitest';
import { workflowFixture } from '../api/fixtures.ts';
import type { Workflow } from '../api/types.ts';
import { newDraft } from '../lib/drafts.ts';
import { asTyped, choiceOf, isOffered, titleOf, typedOf, workflowOf } from './workflows.ts';

function workflow(id: string, owner: string | null, title?: unknown): Workflow {
  return workflowFixture(id, { visibility: owner ? 'private' : 'global', owner_id: owner, schema: title === undefined ? {} : { title } });
}

// Requirements: UI-06
describe('workflows to choose from', () => {
  it('are one’s own, and those with a title', () => {
    const all = [workflow('mine', 'ann'), workflow('house', null), workflow('assistant', null, 'Document assistant'), workflow('theirs', 'bob'), workflow('blank', null, ' ')];
    expect(all.filter((one) => isOffered(one, 'ann')).map((one) => one.id)).toEqual(['mine', 'assistant']);
    expect(all.filter((one) => isOffered(one, undefined)).map((one) => one.id)).toEqual(['assistant']);
  });

  it('are no drafts, whose patch may have been withdrawn', () => {
    const draft = { ...workflow('mine', 'ann', 'Mine'), status: 'draft' as const };
    expect([isOffered(draft, 'ann'), isOffered({ ...draft, status: 'active' }, 'ann')]).toEqual([false, true]);
  });

  it('have no title where the document has something else there', () => {
    expect([titleOf(workflow('a', null, 7)), titleOf({ ...workflow('a', null), schema: {} })]).toEqual(['', '']);
  });

  it('are not used once they are no longer offered', () => {
    const offered = [workflow('a', 'ann')];
    expect([workflowOf({ c1: 'a' }, 'c1', offered), workflowOf({ c1: 'gone' }, 'c1', offered), workflowOf({}, 'c1', offered)]).toEqual(['a', '', '']);
    expect(workflowOf({ c1: 'a' }, 'c1', undefined)).toBe('a'); // not known yet: as it was chosen
  });

  it('are those the server keeps for the conversation, unless this page chose another', () => {
    const offered = [workflow('a', 'ann'), workflow('b', 'ann')];
    expect([workflowOf({}, 'c1', offered, 'a'), workflowOf({ c1: 'b' }, 'c1', offered, 'a'), workflowOf({ c1: '' }, 'c1', offered, 'a')]).toEqual(['a', 'b', '']);
    expect([workflowOf({}, 'c1', offered, 'letters'), typedOf(choiceOf({}, 'c1', 'letters', offered))]).toEqual(['letters', 'letters']); // by its name
  });
});

// Requirements: UI-06
describe('a workflow by its id or name', () => {
  it('is taken as it was typed, offered or not', () => {
    const chosen = { c1: asTyped(' summaries.weekly '), c2: asTyped('') };
    expect([workflowOf(chosen, 'c1', []), workflowOf(chosen, 'c2', [workflow('a', 'ann')])]).toEqual(['summaries.weekly', '']);
    expect([typedOf(chosen.c1), typedOf('a'), typedOf(undefined)]).toEqual([' summaries.weekly ', null, null]);
  });
});

describe('a chosen workflow', () => {
  beforeEach(() => {
    localStorage.clear();
    vi.resetModules();
  });

  it('is remembered for its conversation, and not for one to come', async () => {
    const page = await import('./choice.ts');
    page.chooseWorkflow(newDraft, 'a');
    expect(localStorage.getItem('liminal.workflows')).toBeNull();
    page.carryOver(newDraft, 'c1');
    vi.resetModules();
    const reloaded = await import('./choice.ts');
    expect(reloaded.chosenWorkflow.get()).toEqual({ c1: 'a' });
    reloaded.chooseWorkflow('c1', '');
    expect(localStorage.getItem('liminal.workflows')).toBeNull();
  });

  it('is remembered here until the server keeps it', async () => {
    const page = await import('./choice.ts');
    const asked: unknown[] = [];
    let works = false;
    vi.stubGlobal('fetch', async (_: unknown, init: RequestInit) => {
      asked.push(JSON.parse(String(init.body)));
      return new Response(works ? JSON.stringify({ status: 'ok', data: {}, request_id: 'r' }) : '{}', { status: works ? 200 : 404, headers: { 'Content-Type': 'application/json' } });
    });
    page.chooseWorkflow('c1', 'a');
    await expect(page.keepWorkflow('c1', 'a')).rejects.toThrow();
    works = true;
    await page.handOver('c1');
    expect([asked.at(-1), page.chosenWorkflow.get(), localStorage.getItem('liminal.workflows')]).toEqual([{ workflow_id: 'a' }, { c1: 'a' }, null]);
    page.chooseWorkflow('c2', asTyped(' letters '));
    await page.handOver('c2');
    await page.handOver('c3'); // nothing is remembered of it
    vi.unstubAllGlobals();
    expect([asked.at(-1), asked.length]).toEqual([{ workflow_id: 'letters' }, 3]);
  });

  it('is forgotten with the person, and survives a broken store', async () => {
    localStorage.setItem('liminal.workflows', '{"c1":"a","c2":7}');
    const page = await import('./choice.ts');
    expect(page.chosenWorkflow.get()).toEqual({ c1: 'a' });
    page.forgetChoices();
    expect(localStorage.getItem('liminal.workflows')).toBeNull();
    localStorage.setItem('liminal.workflows', '{broken');
    vi.resetModules();
    expect((await import('./choice.ts')).chosenWorkflow.get()).toEqual({});
  });

  it('is remembered beside what another tab has chosen meanwhile', async () => {
    const page = await import('./choice.ts');
    page.chooseWorkflow('c1', 'a');
    localStorage.setItem('liminal.workflows', '{"c1":"b","c2":"b"}');
    page.chooseWorkflow('c3', 'a');
    expect(JSON.parse(localStorage.getItem('liminal.workflows')!)).toEqual({ c1: 'b', c2: 'b', c3: 'a' });
  });

  it('makes room for new conversations by forgetting the oldest', async () => {
    const page = await import('./choice.ts');
    for (let n = 0; n < 201; n++) page.chooseWorkflow(`c${n}`, 'a');
    const kept = Object.keys(JSON.parse(localStorage.getItem('liminal.workflows')!) as object);
    expect([kept.length, kept[0], kept.at(-1)]).toEqual([200, 'c1', 'c200']);
  });
});
