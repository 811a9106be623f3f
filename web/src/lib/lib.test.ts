import { beforeEach, describe, expect, it } from 'vitest';
import { refusal } from '../api/upload.ts';
import { de } from '../i18n/de.ts';
import { en } from '../i18n/en.ts';
import { clearDrafts, draftCount, exportDrafts, keepDraftsOf, moveDraft, newDraft, onSaveDrafts, readDraft, readDraftDoc, writeDraft } from './drafts.ts';
import { count, daysAgo, duration, fileSize, kindsOfFile, money } from './format.ts';

beforeEach(() => localStorage.clear());

// Requirements: UI-15
describe('drafts', () => {
  it('are kept by conversation, with the time, and go when empty', () => {
    writeDraft(newDraft, 'half a thought');
    writeDraft('c1', 'another');
    const stored = JSON.parse(localStorage.getItem('liminal.drafts')!) as Record<string, { text: string; savedAt: string }>;
    expect(Object.keys(stored)).toEqual(['_new', 'c1']);
    expect(Number.isNaN(Date.parse(stored['_new']!.savedAt))).toBe(false);
    writeDraft('c1', '');
    expect([readDraft('c1'), readDraft(newDraft)]).toEqual(['', 'half a thought']);
  });

  it('of the conversation to come are its own once it is there, with what is not saved yet', () => {
    writeDraft(newDraft, 'half');
    const off = onSaveDrafts(() => writeDraft(newDraft, 'half a thought', { type: 'doc' }));
    moveDraft(newDraft, 'c1');
    off();
    expect([readDraft(newDraft), readDraft('c1'), readDraftDoc('c1')]).toEqual(['', 'half a thought', { type: 'doc' }]);
    moveDraft(newDraft, 'c1'); // there is none any more
    expect(readDraft('c1')).toBe('half a thought');
  });

  it('are not found by another person', () => {
    keepDraftsOf('ann');
    writeDraft('c1', 'private');
    keepDraftsOf('ann');
    expect(readDraft('c1')).toBe('private');
    keepDraftsOf('bob');
    expect(readDraft('c1')).toBe('');
  });

  it('are not found by another person who comes while one is being written', () => {
    keepDraftsOf('ann');
    let pending = true; // as a box that is open: it saves once, when it is asked to or goes
    const save = () => pending && (writeDraft(newDraft, 'private'), (pending = false));
    const off = onSaveDrafts(save);
    keepDraftsOf('bob');
    save();
    off();
    expect(readDraft(newDraft)).toBe('');
  });

  it('of a page that another person has taken over elsewhere are neither written nor read there', () => {
    keepDraftsOf('ann');
    localStorage.setItem('liminal.drafts.owner', 'bob'); // who signed in on another page
    localStorage.setItem('liminal.drafts', JSON.stringify({ c1: { text: 'of bob', savedAt: '' } }));
    writeDraft(newDraft, 'of ann');
    expect([readDraft('c1'), draftCount()]).toEqual(['', 0]);
    keepDraftsOf('bob');
    expect([readDraft('c1'), readDraft(newDraft)]).toEqual(['of bob', '']);
  });

  it('keep the document beside the text, and read those that have none', () => {
    const doc = { type: 'doc', content: [] };
    writeDraft('c1', '@GDPR', doc);
    expect([readDraft('c1'), readDraftDoc('c1')]).toEqual(['@GDPR', doc]);
    localStorage.setItem('liminal.drafts', JSON.stringify({ c1: { text: 'of an older client', savedAt: '2026-01-01T00:00:00Z' } }));
    expect([readDraft('c1'), readDraftDoc('c1')]).toEqual(['of an older client', undefined]);
  });

  it('are counted, given away as a file, and cleared', () => {
    writeDraft('c1', 'one');
    writeDraft(newDraft, 'two');
    expect(draftCount()).toBe(2);
    expect((JSON.parse(exportDrafts()) as Record<string, { text: string }>)['c1']!.text).toBe('one');
    clearDrafts();
    expect([draftCount(), readDraft('c1')]).toEqual([0, '']);
  });

  it('survive a broken store', () => {
    localStorage.setItem('liminal.drafts', '{broken');
    expect(readDraft('c1')).toBe('');
  });
});

describe('files', () => {
  const limits = { max_bytes: 100, extensions: ['.md', 'PDF'] };
  it.each([
    ['a.md', 10, null],
    ['A.PDF', 10, null],
    ['a.md', 101, 'too_large'],
    ['a.md', 0, 'empty'],
    ['a.exe', 10, 'wrong_kind'],
    ['noending', 10, 'wrong_kind'],
  ])('%s of %i bytes: %s', (name, size, want) => {
    expect(refusal({ name, size }, limits)).toBe(want);
  });
});

describe('figures', () => {
  it('reads well in both languages', () => {
    expect([duration(118, 'en'), duration(1480, 'de'), duration(61_000, 'en')]).toEqual(['118 ms', '1,5 s', '1 min 1 s']);
    expect([fileSize(2458, 'en'), fileSize(20 * 1024 * 1024, 'de'), fileSize(12, 'en')]).toEqual(['2.4 KB', '20 MB', '12 B']);
  });

  it('writes what something cost as fine as it needs to be', () => {
    expect([money(5.021, 'en'), money(0.0123, 'en'), money(0.00001, 'en'), money(0, 'en')]).toEqual(['$5.02', '$0.0123', '< $0.0001', '$0.00']);
    expect(money(0.0123, 'de').replace(/\s/, ' ')).toBe('0,0123 $');
    expect([count(12_345, 'en'), count(12_345, 'de')]).toEqual(['12,345', '12.345']);
  });
  it('names the kinds of file people know', () => {
    const more = (n: number) => `and ${n} more`;
    expect(kindsOfFile(['.md', '.txt'], more)).toBe('.md, .txt');
    expect(kindsOfFile(['.c', '.cc', '.go', '.h', '.md', '.pdf', '.rs'], more)).toBe('.pdf, .md and 5 more');
  });

  it('counts days by the calendar', () => {
    const now = new Date(2026, 10, 20, 0, 5);
    expect(daysAgo(new Date(2026, 10, 19, 23, 55).toISOString(), now)).toBe(1);
    expect(daysAgo(new Date(2026, 10, 20, 0, 1).toISOString(), now)).toBe(0);
  });
});

describe('the dictionaries', () => {
  it('say the sentence about the missing model word for word', () => {
    expect(en.keyless).toBe('No language model is configured. Answers are quoted from your documents and tool results; nothing is generated.');
  });

  it('leave nothing empty and have as many starters', () => {
    for (const words of [en, de]) for (const value of Object.values(words)) expect(value.length).toBeGreaterThan(0);
    expect(de.starters).toHaveLength(en.starters.length);
  });
});
