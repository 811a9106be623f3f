import { act } from 'react';
import { createRoot } from 'react-dom/client';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Citation } from '../api/types.ts';
import { setLanguage } from '../i18n/index.ts';
import { Chips } from './Chips.tsx';
import { Sources } from './Sources.tsx';

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });

function anchors(what: React.ReactNode): { list: string | null | undefined; links: (string | null)[][] } {
  const box = document.createElement('div');
  const root = createRoot(box);
  act(() => root.render(what));
  const out = {
    list: box.querySelector('ul, ol')?.getAttribute('aria-label'),
    links: [...box.querySelectorAll('a')].map((a) => [a.getAttribute('href'), a.textContent, a.getAttribute('rel')]),
  };
  act(() => root.unmount());
  return out;
}

describe('the links of an answer', () => {
  beforeEach(() => setLanguage('de'));

  // Requirements: GRND-17, UI-31 (chips)
  it('are anchors', () => {
    const chips = [
      { href: '/r/matters/deadline/c47bd2', label: 'Klageerwiderung' },
      { href: 'https://firm.example/akte/7', label: 'Akte 7' },
    ];
    expect(anchors(<Chips chips={chips} />)).toEqual({
      list: 'Verweise',
      links: [
        ['/r/matters/deadline/c47bd2', 'Klageerwiderung', null],
        ['https://firm.example/akte/7', 'Akte 7', 'noopener noreferrer'],
      ],
    });
    expect(anchors(<Chips chips={[]} />)).toEqual({ list: undefined, links: [] });
  });

  it('lead from what is cited to its page, where it has one', () => {
    const of = (n: number, href: string) =>
      ({ n, text: `Frist ${n}`, document_id: '', title: '', start: 0, end: 0, score: 0, record: { source: 'matters', entity: 'deadline', id: 'c', title: 'T', href } }) as Citation;
    const shown = anchors(<Sources citations={[of(1, '/r/matters/deadline/c'), of(2, ''), of(3, 'javascript:alert(1)')]} quoting open={() => {}} />);
    expect(shown.links).toEqual([['/r/matters/deadline/c', '1Frist 1', null]]);
  });
});
