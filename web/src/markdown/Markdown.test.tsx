import { act } from 'react';
import { createRoot } from 'react-dom/client';
import { describe, expect, it } from 'vitest';
import type { Citation } from '../api/types.ts';
import { Markdown } from './Markdown.tsx';

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });

const source: Citation = { n: 1, document_id: 'd', context_id: 'c', chunk_id: 'k', title: 'Rules', path: 'files/rules.md', start: 0, end: 4, text: 'Text', score: 1 };

function render(text: string, citations: Citation[] = []): HTMLElement {
  const box = document.createElement('div');
  act(() => createRoot(box).render(<Markdown text={text} citations={citations} open={() => undefined} />));
  return box;
}

describe('an answer as elements', () => {
  // Requirements: UI-33
  it('shows raw HTML as words and loads no image', () => {
    const box = render('<img src=x onerror="alert(1)"> <script>alert(1)</script>\n\n<div onclick="x">block</div>\n\n![alt words](https://example.com/x.png) [go](javascript:alert(1))');
    expect(box.querySelectorAll('img, script, [onclick], a')).toHaveLength(0);
    expect(box.textContent).toContain('<img src=x onerror="alert(1)">');
    expect(box.textContent).toContain('alt words');
  });

  // Requirements: UI-05
  it('makes a chip only for a source this turn returned', () => {
    const box = render('Seven years [1], and [9].', [source]);
    const chips = [...box.querySelectorAll('button.cite')];
    expect(chips.map((chip) => [chip.textContent, chip.getAttribute('title')])).toEqual([['1', 'files/rules.md']]);
    expect(box.textContent).toContain('[9]');
  });

  // Requirements: UI-05
  it('makes chips in tables and lists, side by side too, and lets a wide table scroll', () => {
    const more = { ...source, n: 2, path: 'files/more.md' };
    const box = render('| Topic | **Rules** [1] | More |\n|---|---|---|\n| Years | Seven [1][2] | *none* [9] |\n\n1. Ten days [2]\n   - at most [1], [2]', [source, more]);
    const chips = (selector: string) => [...box.querySelectorAll(`${selector} button.cite`)].map((chip) => chip.textContent);
    expect([chips('th'), chips('td'), chips('li')]).toEqual([['1'], ['1', '2'], ['2', '1', '2']]);
    expect(box.querySelector('td:last-child')?.textContent).toBe('none [9]');
    expect(box.querySelector('.table-scroll')?.getAttribute('tabindex')).toBe('0');
    const sentences = render('| a | b |\n|--:|---|\n| 1 | A sentence that needs some room. |');
    expect([...sentences.querySelectorAll('td')].map((cell) => cell.className)).toEqual(['align-right', 'wide']);
  });

  // Requirements: UI-05
  it('shows a quoted row as a table, under the names of its columns where there are any', () => {
    const named = render('> | Model | In stock |\n> |---|---|\n> | BW-300 | 22 [1] |\n\n— **Prices**', [source]);
    expect([...named.querySelectorAll('blockquote th, blockquote td')].map((cell) => cell.textContent)).toEqual(['Model', 'In stock', 'BW-300', '22 1']);
    expect(named.querySelectorAll('blockquote td button.cite')).toHaveLength(1);
    const bare = render('> |  |  |\n> |---|---|\n> | Thonet 14 | 95 kg [1] |', [source]);
    expect([bare.querySelectorAll('thead').length, bare.querySelectorAll('blockquote td').length]).toEqual([0, 2]);
  });

  it('shows what stands for removed words as such, wherever it stands', () => {
    const box = document.createElement('div');
    const mark = '[removed: API key]';
    const text = `Use ${mark} [1], or **${mark}**.\n\n| a |\n|---|\n| ${mark} |\n\n\`\`\`\n${mark}\n\`\`\``;
    act(() => createRoot(box).render(<Markdown text={text} citations={[source]} removed={[mark]} open={() => undefined} />));
    expect([...box.querySelectorAll('.removed')].map((one) => one.textContent)).toEqual([mark, mark, mark]);
    expect(box.querySelectorAll('button.cite')).toHaveLength(1);
    expect(box.querySelector('pre')?.textContent).toContain(mark);
  });

  it('fits headings below the turn without a skip', () => {
    const box = render('## Two\n\n#### Four\n\n# One');
    expect([...box.querySelectorAll('h3,h4,h5,h6')].map((heading) => heading.tagName)).toEqual(['H3', 'H4', 'H3']);
  });

  it('keeps a quoted heading out of the outline', () => {
    const box = render('> ## Retention\n> Seven years.');
    expect(box.querySelectorAll('h1,h2,h3,h4,h5,h6')).toHaveLength(0);
    expect(box.querySelector('blockquote .quoted-heading')?.textContent).toBe('Retention');
  });

  it('nests lists, tables and quotes', () => {
    const box = render('- a\n  - b\n\n| x |\n|--:|\n| 1 |\n\n> q\n\n- [x] done');
    expect(box.querySelectorAll('ul ul li')).toHaveLength(1);
    expect(box.querySelector('td')?.className).toBe('align-right');
    expect(box.querySelector('blockquote p')?.textContent).toBe('q');
    expect(box.querySelectorAll('input[type=checkbox]')).toHaveLength(1);
  });
});
