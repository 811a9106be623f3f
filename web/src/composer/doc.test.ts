import { describe, expect, it } from 'vitest';
import { docOfLines, fieldsOf, fieldsOfMessage, isEmpty, linesNaming, linesOf, ownLinesOf, linesOfText, textOf, textOfLines, trimmed, type Mention } from './doc.ts';

const gdpr: Mention = { category: 'document', id: 'd1', label: 'GDPR' };
const laws: Mention = { category: 'set', id: 's1', label: 'Laws' };
const audit: Mention = { category: 'action', id: 'audit', label: 'Audit' };
const compare: Mention = { category: 'action', id: 'compare', label: 'Compare' };
const web: Mention = { category: 'web', id: 'web', label: 'WebSearch' };

// Requirements: UI-32
describe('what is written', () => {
  it('is the same text when it comes back', () => {
    for (const text of ['', 'one', 'one\n\ntwo\n', '  spaces  ', '\n']) expect(textOf(docOfLines(linesOfText(text)))).toBe(text);
  });

  it('reads a mention as its name', () => {
    expect(textOf(docOfLines([[audit, ' this against ', gdpr], ['now']]))).toBe('@Audit this against @GDPR\nnow');
    expect(textOfLines([[gdpr]], '')).toBe('GDPR');
  });

  it('goes on the wire by the names the API has', () => {
    const lines = [[audit, ' with ', gdpr, ' ', laws, ' ', gdpr, ' ', web]];
    expect(fieldsOf(lines)).toEqual({
      tiptap_json: docOfLines(lines),
      tagged_doc_ids: ['d1'],
      tagged_set_ids: ['s1'],
      action: 'audit',
      enable_web_search: true,
    });
  });

  it('brings nothing where nothing is mentioned, and no action where two are', () => {
    expect(fieldsOf([['plain @GDPR']])).toBeUndefined();
    expect(fieldsOf([[audit, ' ', compare]])).not.toHaveProperty('action');
    expect(fieldsOf([[audit, ' ', audit]])).toHaveProperty('action', 'audit');
  });

  it('is read whole, however many lines it has', () => {
    const lines = Array.from({ length: 12_000 }, (_, n) => [`line ${n}`]);
    expect(ownLinesOf(docOfLines(lines))).toEqual(lines);
  });

  it('leaves a document at home that the server would refuse', () => {
    const fields = fieldsOf([[gdpr, 'ä'.repeat(40_000)]]);
    expect(fields).toEqual({ tagged_doc_ids: ['d1'] });
  });

  it('is said once more with what it mentioned and its words still name', () => {
    const message = { content: '@Audit (x) @GDPR', meta: { tiptap_json: docOfLines([[audit, ' (x) ', gdpr]]) } };
    expect(fieldsOfMessage(message, message.content)).toEqual(fieldsOf([[audit, ' (x) ', gdpr]]));
    expect(fieldsOfMessage(message, 'only\n@GDPR now')).toEqual(fieldsOf([['only'], [gdpr, ' now']]));
    expect(fieldsOfMessage(message, 'GDPR alone')).toBeUndefined();
    expect(fieldsOfMessage({ content: 'x', meta: {} }, 'x')).toBeUndefined();
  });

  it('finds the longer of two names', () => {
    const long: Mention = { category: 'document', id: 'd2', label: 'GDPR (2024) [draft]' };
    expect(linesNaming('@GDPR (2024) [draft] and @GDPR', [gdpr, long])).toEqual([[long, ' and ', gdpr]]);
  });
});

describe('a document of another program', () => {
  it('is read as far as it can be', () => {
    const doc = {
      type: 'doc',
      content: [
        { type: 'heading', content: [{ type: 'text', text: 'Title' }] },
        { type: 'bulletList', content: [{ type: 'listItem', content: [{ type: 'paragraph', content: [{ type: 'text', text: 'item' }] }] }] },
        { type: 'paragraph', content: [{ type: 'mention', attrs: { id: 'x', label: 'bad', category: 'person' } }, { type: 'text', text: 'end' }] },
      ],
    };
    expect(textOf(doc)).toBe('Title\nitem\nend');
  });

  it('is nothing when it is none', () => {
    for (const bad of [null, 'text', {}, { type: 'doc' }, { type: 'doc', content: [] }, { type: 'doc', content: [null, 3] }]) expect(linesOf(bad)).toBeNull();
  });

  it('does not go deeper, or on for longer, than it should', () => {
    let deep: unknown = { type: 'text', text: 'deep' };
    for (let level = 0; level < 10_000; level++) deep = { type: 'quote', content: [deep] };
    expect(linesOf({ type: 'doc', content: [deep] })).toBeNull();
    const wide = docOfLines(Array.from({ length: 12_000 }, (_, n) => [`line ${n}`]));
    expect(linesOf(wide)).toHaveLength(10_000);
  });
});

describe('lines', () => {
  it('lose what is blank at either end', () => {
    expect(trimmed([['  '], [' a'], [], ['b ', gdpr, ' '], ['']])).toEqual([['a'], [], ['b ', gdpr, '']]);
    expect(trimmed([[' '], []])).toEqual([]);
  });

  it('are empty without words or mentions', () => {
    expect([isEmpty([]), isEmpty([[' '], []]), isEmpty([[gdpr]]), isEmpty([['a']])]).toEqual([true, true, false, false]);
  });
});
