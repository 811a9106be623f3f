// Lexing text that is still being written. Only the tail is lexed again: the
// blocks before it are settled, keep their identity, and render from memory.

import { Lexer, type Token } from 'marked';

export interface Lexed {
  source: string;
  tokens: Token[];
}

export const nothing: Lexed = { source: '', tokens: [] };

export function lex(previous: Lexed, text: string): Lexed {
  const source = text.replace(/\r\n?/g, '\n');
  if (source === previous.source) return previous;
  if (!source.startsWith(previous.source)) return { source, tokens: block(source) };
  const kept = settledTokens(previous.tokens);
  const offset = kept.reduce((sum, token) => sum + token.raw.length, 0);
  return { source, tokens: [...kept, ...block(source.slice(offset))] };
}

/** A lexer that remembers what it settled. That makes it cheap, never different: the same text gives the same tokens. */
export function createLexer(): (text: string) => Token[] {
  let last = nothing;
  return (text) => {
    last = lex(last, text);
    return last.tokens;
  };
}

function block(source: string): Token[] {
  return new Lexer({ gfm: true }).lex(source);
}

/** Everything before the last block: that one may still grow or change its kind. */
function settledTokens(tokens: Token[]): Token[] {
  const last = tokens.findLastIndex((token) => token.type !== 'space');
  return last <= 0 ? [] : tokens.slice(0, last);
}

/** A fence is closed once its last line is a fence: only then is it worth colouring. */
export function fenceClosed(raw: string): boolean {
  return /\n {0,3}(`{3,}|~{3,})\s*$/.test(raw);
}

/** Splits text at citation marks such as [2]. */
export function splitCitations(text: string): (string | number)[] {
  const parts: (string | number)[] = [];
  let from = 0;
  for (const match of text.matchAll(/\[(\d{1,3})\]/g)) {
    if (match.index > from) parts.push(text.slice(from, match.index));
    parts.push(Number(match[1]));
    from = match.index + match[0].length;
  }
  if (from < text.length) parts.push(text.slice(from));
  return parts;
}

/** Cuts text at every place where one of the marks stands. */
export function splitAround(text: string, marks: string[]): { text: string; found: boolean }[] {
  let parts = [{ text, found: false }];
  for (const mark of marks) {
    parts = parts.flatMap((part) => {
      if (part.found || mark === '') return [part];
      const pieces = part.text.split(mark).map((piece) => ({ text: piece, found: false }));
      return pieces.flatMap((piece, index) => (index === 0 ? [piece] : [{ text: mark, found: true }, piece]));
    });
  }
  return parts.filter((part) => part.text !== '');
}

/** Only these lead anywhere; anything else stays words. */
export function safeHref(href: string): string | null {
  try {
    const url = new URL(href);
    return ['http:', 'https:', 'mailto:'].includes(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}

/** Named and numbered entities, which the lexer leaves alone, as the characters they stand for. */
export function unescapeEntities(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|nbsp|#39|#(\d{1,7})|#x([\da-f]{1,6}));/gi, (whole, name: string, decimal?: string, hex?: string) => {
    if (decimal || hex) {
      const point = decimal ? Number(decimal) : parseInt(hex!, 16);
      return point > 0 && point <= 0x10ffff ? String.fromCodePoint(point) : whole;
    }
    return ({ amp: '&', lt: '<', gt: '>', quot: '"', nbsp: '\u00a0', '#39': "'" } as Record<string, string>)[name.toLowerCase()] ?? whole;
  });
}
