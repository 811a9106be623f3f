import { describe, expect, it } from 'vitest';
import { most, pieces, spoken } from './spoken.ts';

describe('what of an answer is read aloud', () => {
  // Requirements: CHAT-21
  it('is its words, without marks, code and the numbers of sources', () => {
    const text = '# Notice\n\nIt is **three** months [1], see [the rules](https://x.y) [2, 3].\n\n- one\n- `two`\n\n```go\nfunc main() {}\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> quoted [project:17] here\n\n---\n\n![a plan](x.png)';
    expect(spoken(text)).toEqual(['Notice', 'It is three months, see the rules.', 'one', 'two', 'a, b', '1, 2', 'quoted here', 'a plan']);
  });

  it('is asked for in pieces that end where somebody would draw breath, and nothing is lost', () => {
    const sentence = `${'Grüße '.repeat(40)}end. `;
    const all = pieces([sentence.repeat(12).trim(), 'Short.']);
    expect(all.at(-1)).toBe('Short.');
    expect(all.slice(0, -1).every((piece) => piece.length <= most && piece.endsWith('end.'))).toBe(true);
    expect(all.join(' ')).toBe(`${sentence.repeat(12)}Short.`);
    const faces = '😀'.repeat(most);
    expect(pieces([`x${faces}`]).join('')).toBe(`x${faces}`);
    expect(pieces([`x${faces}`]).every((piece) => new TextEncoder().encode(piece).length <= 4_096 && !piece.includes('\uFFFD'))).toBe(true);
    expect(pieces([])).toEqual([]);
  });
});
