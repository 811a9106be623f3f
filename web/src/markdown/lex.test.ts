import { Lexer } from 'marked';
import { describe, expect, it } from 'vitest';
import { createLexer, fenceClosed, safeHref, splitCitations, unescapeEntities } from './lex.ts';

const text = `# Title

Some *words* with [1][2] and a [link](https://example.org).

- one
- two

  still two
- three

\`\`\`go
func main() {}

// a blank line above
\`\`\`

| a | b |
|---|---|
| 1 | 2 |

Setext
======

> quote
lazy

1. first\r
2. second
`;

describe('lexing what is still being written', () => {
  it('ends with the same tokens as lexing the whole, wherever it was cut', () => {
    const whole = new Lexer({ gfm: true }).lex(text.replace(/\r\n?/g, '\n'));
    for (const step of [1, 3, 7, 50]) {
      const tokensOf = createLexer();
      for (let at = step; at < text.length; at += step) tokensOf(text.slice(0, at));
      expect(JSON.parse(JSON.stringify(tokensOf(text)))).toEqual(JSON.parse(JSON.stringify(whole)));
    }
  });

  it('keeps settled blocks as they are', () => {
    const tokensOf = createLexer();
    const before = tokensOf('First.\n\nSecond');
    const after = tokensOf('First.\n\nSecond grows.');
    expect(after[0]).toBe(before[0]);
  });

  it('starts over when the text does', () => {
    const tokensOf = createLexer();
    tokensOf('One thing.');
    expect(tokensOf('Another.')[0]!.raw).toBe('Another.');
  });

  it('knows when a fence is closed', () => {
    expect(fenceClosed('```go\nx\n```')).toBe(true);
    expect(fenceClosed('```go\nx')).toBe(false);
    expect(fenceClosed('```')).toBe(false);
  });
});

describe('the pieces of text', () => {
  it('finds citation marks', () => {
    expect(splitCitations('a [1][2], b [12].')).toEqual(['a ', 1, 2, ', b ', 12, '.']);
  });

  // Requirements: UI-33
  it('lets links lead out over three protocols only', () => {
    expect(safeHref('https://example.org/a')).toBe('https://example.org/a');
    expect(safeHref('mailto:a@example.org')).toBe('mailto:a@example.org');
    for (const bad of ['javascript:alert(1)', ' java\nscript:alert(1)', 'data:text/html,x', '/relative', 'vbscript:x']) expect(safeHref(bad)).toBeNull();
  });

  it('turns entities into characters once', () => {
    expect(unescapeEntities('a &amp;lt; b &#233; &#x41; &unknown;')).toBe('a &lt; b é A &unknown;');
  });
});
