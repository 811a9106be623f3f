// What of an answer is said: its words, without the marks around them.

import { lexer, type Token, type Tokens } from 'marked';

/** The paragraphs of a text as somebody would read them out. Code is passed over, and the numbers of sources. */
export function spoken(markdown: string): string[] {
  return lexer(markdown).flatMap(blocks).map(plain).filter((text) => /[\p{L}\p{N}]/u.test(text));
}

function blocks(token: Token): string[] {
  switch (token.type) {
    case 'code':
    case 'hr':
    case 'space':
    case 'def':
      return [];
    case 'list':
      return (token as Tokens.List).items.flatMap((item) => item.tokens.flatMap(blocks));
    case 'blockquote':
      return (token.tokens ?? []).flatMap(blocks);
    case 'table': {
      const table = token as Tokens.Table;
      return [table.header, ...table.rows].map((row) => row.map((cell) => words(cell.tokens)).join(', '));
    }
    default:
      return [words([token])];
  }
}

function words(tokens: Token[]): string {
  return tokens
    .map((token) => {
      if (token.type === 'br') return ' ';
      if (token.type === 'image') return (token as Tokens.Image).text;
      if ('tokens' in token && token.tokens) return words(token.tokens);
      return 'text' in token ? String(token.text) : '';
    })
    .join('');
}

/** The number of a source, [1] or [chip:…], is for the eye. */
function plain(text: string): string {
  return text
    .replaceAll(/\s*\[(?:\d+(?:\s*,\s*\d+)*|[a-z]+:[^\]]*)\]/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

/** How much is asked for at once: the first piece is heard soon, and the next one comes while it is. */
export const most = 900; // characters; at most four bytes each, and the server takes 4,096 bytes

/** Paragraphs in pieces that can be asked for. */
export function pieces(paragraphs: string[]): string[] {
  const out: string[] = [];
  for (const paragraph of paragraphs) {
    for (let rest = paragraph; rest !== ''; ) {
      const at = rest.length <= most ? rest.length : breath(rest.slice(0, most));
      out.push(rest.slice(0, at).trim());
      rest = rest.slice(at).trim();
    }
  }
  return out;
}

/** Where somebody would draw breath. */
function breath(head: string): number {
  const sentence = Math.max(head.lastIndexOf('. '), head.lastIndexOf('! '), head.lastIndexOf('? '));
  if (sentence > head.length / 4) return sentence + 1;
  const word = head.lastIndexOf(' ');
  if (word > 0) return word;
  return /[\uD800-\uDBFF]$/.test(head) ? head.length - 1 : head.length; // half a character is none
}
