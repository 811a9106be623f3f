// What is written in the box, as the editor's JSON: paragraphs of text and
// mentions. The words of a message, what goes with it on the wire (CHAT-24) and
// the pills in the conversation are all read from it.

export type Category = 'document' | 'set' | 'action' | 'web';

/** Something that is named with an @: what it is, its id (an action's word), and how it is called. */
export interface Mention {
  category: Category;
  id: string;
  label: string;
}

/** One piece of a line. */
export type Piece = string | Mention;

export type Doc = {
  type: 'doc';
  content: { type: 'paragraph'; content?: ({ type: 'text'; text: string } | { type: 'mention'; attrs: Mention })[] }[];
};

const categories: ReadonlySet<unknown> = new Set<Category>(['document', 'set', 'action', 'web']);

/** The bound of the server for the editor's document, in bytes, with some room (CHAT-25). */
const mostJSON = 60 * 1024;

/** Bounds of what is walked in a document that comes from elsewhere; what is written here is read whole. */
const mostNodes = 20_000;
const mostLevels = 16;

export function linesOfText(text: string): Piece[][] {
  return text.split(/\r\n?|\n/).map((line) => (line === '' ? [] : [line]));
}

export function docOfLines(lines: Piece[][]): Doc {
  return {
    type: 'doc',
    content: (lines.length > 0 ? lines : [[]]).map((line) => {
      const content = line.filter((piece) => piece !== '').map((piece) => (typeof piece === 'string' ? { type: 'text' as const, text: piece } : { type: 'mention' as const, attrs: piece }));
      return content.length > 0 ? { type: 'paragraph', content } : { type: 'paragraph' };
    }),
  };
}

/**
 * The lines of a document, whoever wrote it: from a draft of another version
 * or another program's message. What is neither text nor mention is looked
 * into; null when there is nothing to be read.
 */
export function linesOf(doc: unknown, most = mostNodes): Piece[][] | null {
  const lines: Piece[][] = [];
  let left = most;

  function walk(node: unknown, level: number, line: Piece[] | null): void {
    const { type, text, attrs, content } = (node ?? {}) as { type?: unknown; text?: unknown; attrs?: unknown; content?: unknown };
    if (level > mostLevels || --left < 0) return;
    if (type === 'text' && typeof text === 'string' && text !== '') put(text, line);
    else if (type === 'hardBreak') put('\n', line);
    else if (type === 'mention') {
      const mention = mentionOf(attrs);
      if (mention) put(mention, line);
    }
    if (!Array.isArray(content)) return;
    let own = line;
    if (type === 'paragraph' || type === 'heading') lines.push((own = []));
    for (const child of content) walk(child, level + 1, own);
  }

  function put(piece: Piece, line: Piece[] | null): void {
    if (!line) lines.push((line = []));
    line.push(piece);
  }

  const { type, content } = (doc ?? {}) as { type?: unknown; content?: unknown };
  if (type !== 'doc' || !Array.isArray(content)) return null;
  for (const block of content) {
    if ((block as { type?: unknown } | null)?.type === 'paragraph' && !(block as { content?: unknown }).content) lines.push([]);
    else walk(block, 0, null);
  }
  return lines.length > 0 ? lines : null;
}

/** The lines of what the editor of this page holds, or gave away: all of them. */
export function ownLinesOf(doc: unknown): Piece[][] | null {
  return linesOf(doc, Infinity);
}

function mentionOf(attrs: unknown): Mention | null {
  const { id, label, category } = (attrs ?? {}) as Record<string, unknown>;
  if (typeof id !== 'string' || id === '' || typeof label !== 'string' || !categories.has(category)) return null;
  return { category: category as Category, id, label };
}

export function textOfLines(lines: Piece[][], at = '@'): string {
  return lines.map((line) => line.map((piece) => (typeof piece === 'string' ? piece : `${at}${piece.label}`)).join('')).join('\n');
}

export function textOf(doc: unknown): string {
  return textOfLines(linesOf(doc) ?? []);
}

export function mentionsIn(lines: Piece[][]): Mention[] {
  return lines.flat().filter((piece) => typeof piece !== 'string');
}

export function isEmpty(lines: Piece[][]): boolean {
  return lines.every((line) => line.every((piece) => typeof piece === 'string' && piece.trim() === ''));
}

/** The lines without empty ones, and without blanks, at either end. */
export function trimmed(lines: Piece[][]): Piece[][] {
  const blank = (line: Piece[]) => isEmpty([line]);
  const from = lines.findIndex((line) => !blank(line));
  if (from < 0) return [];
  const out = lines.slice(from, lines.findLastIndex((line) => !blank(line)) + 1).map((line) => [...line]);
  const head = out[0]!;
  const tail = out.at(-1)!;
  if (typeof head[0] === 'string') head[0] = head[0].trimStart();
  const last = tail.at(-1);
  if (typeof last === 'string') tail[tail.length - 1] = last.trimEnd();
  return out;
}

/** What goes with a message on the wire; nothing when nothing is mentioned. */
export interface Fields {
  tiptap_json?: Doc;
  tagged_doc_ids?: string[];
  tagged_set_ids?: string[];
  action?: string;
  enable_web_search?: boolean;
}

/**
 * The wire's names for what is mentioned. Two different actions are none: the
 * assistant reads the words and asks which comes first. A document too large
 * for the server stays here, and the message is shown without its pills.
 */
export function fieldsOf(lines: Piece[][]): Fields | undefined {
  const mentions = mentionsIn(lines);
  if (mentions.length === 0) return undefined;
  const ids = (category: Category) => [...new Set(mentions.filter((one) => one.category === category).map((one) => one.id))];
  const [documents, sets, actions] = [ids('document'), ids('set'), ids('action')];
  const doc = docOfLines(lines);
  return {
    ...(new TextEncoder().encode(JSON.stringify(doc)).length <= mostJSON ? { tiptap_json: doc } : {}),
    ...(documents.length > 0 ? { tagged_doc_ids: documents } : {}),
    ...(sets.length > 0 ? { tagged_set_ids: sets } : {}),
    ...(actions.length === 1 ? { action: actions[0]! } : {}),
    ...(ids('web').length > 0 ? { enable_web_search: true } : {}),
  };
}

/** A text whose names of these mentions, behind an @, are the mentions again. */
export function linesNaming(text: string, mentions: Mention[]): Piece[][] {
  const byName = new Map(mentions.map((one) => [`@${one.label}`, one]));
  const names = [...byName.keys()].toSorted((a, b) => b.length - a.length).map((name) => name.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  if (names.length === 0) return linesOfText(text);
  const splitter = new RegExp(`(${names.join('|')})`, 'gu');
  return text.split('\n').map((line) =>
    line
      .split(splitter)
      .filter((part) => part !== '')
      .map((part) => byName.get(part) ?? part),
  );
}

interface Said {
  content: string;
  meta?: Record<string, unknown> | null;
}

/** What goes with a message that is said once more, with these words: what it mentioned and they still name. */
export function fieldsOfMessage({ meta }: Said, text: string): Fields | undefined {
  const lines = linesOf(meta?.['tiptap_json']);
  return lines ? fieldsOf(linesNaming(text, mentionsIn(lines))) : undefined;
}
