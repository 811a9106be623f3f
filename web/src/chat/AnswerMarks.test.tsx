import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { act, type ReactNode } from 'react';
import { createRoot } from 'react-dom/client';
import { beforeEach, describe, expect, it } from 'vitest';
import { setLanguage } from '../i18n/index.ts';
import { ConfidenceMark, SpentMark } from './AnswerMarks.tsx';

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });

function rendered(what: ReactNode): { text: string; level: string | undefined; coin: boolean } {
  const box = document.createElement('div');
  const root = createRoot(box);
  act(() => root.render(what));
  const out = {
    text: box.textContent,
    level: box.querySelector<HTMLElement>('.confidence')?.dataset['level'],
    coin: box.querySelector('.spent svg') !== null,
  };
  act(() => root.unmount());
  return out;
}

const style = readFileSync(join(import.meta.dirname, 'TurnFoot.css'), 'utf8');
const tokens = readFileSync(join(import.meta.dirname, '../styles/tokens.css'), 'utf8');

/** The hue in degrees of a colour such as #28643a. */
function hue(colour: string): number {
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16)) as [number, number, number];
  const most = Math.max(r, g, b);
  const span = most - Math.min(r, g, b);
  const sixth = most === r ? (g - b) / span : most === g ? 2 + (b - r) / span : 4 + (r - g) / span;
  return (sixth * 60 + 360) % 360;
}

/** The hues of a token in the light and in the dark. */
function hues(token: string): number[] {
  const colours = new RegExp(`--${token}: light-dark\\((#\\w{6}), (#\\w{6})\\)`).exec(tokens);
  return (colours ?? []).slice(1).map((colour) => Math.round(hue(colour)));
}

/** The token of the dot of a level; a level without a rule of its own has the first. */
function dot(level: string): string | undefined {
  const rule = (of: string) => new RegExp(`^\\.confidence${of}::before \\{[^}]*background: var\\(--(\\w+)\\)`, 'm').exec(style)?.[1];
  return rule(`\\[data-level='${level}'\\]`) ?? rule('');
}

describe('the marks of an answer', () => {
  beforeEach(() => setLanguage('en'));

  // Requirements: UI-28 (confidence is shown; a dot in three colours)
  it('are a dot, green, yellow or red, that says in words how well the documents carry it', () => {
    expect(rendered(<ConfidenceMark level="high" />)).toMatchObject({ text: 'Well supported', level: 'high' });
    expect(rendered(<ConfidenceMark level="medium" />)).toMatchObject({ text: 'Partly supported', level: 'medium' });
    expect(rendered(<ConfidenceMark level="low" />)).toMatchObject({ text: 'Hardly supported', level: 'low' });
    expect(style).toMatch(/^\.confidence::before \{\s+content: '';[^}]*border-radius: 50%;/m);
    for (const [level, from, to] of [
      ['high', 90, 160], // green
      ['medium', 45, 65], // yellow
      ['low', 0, 15], // red
    ] as const) {
      const found = hues(dot(level) ?? '');
      expect(found, level).toHaveLength(2);
      for (const degrees of found) {
        expect(degrees, level).toBeGreaterThanOrEqual(from);
        expect(degrees, level).toBeLessThanOrEqual(to);
      }
    }
  });

  // Requirements: UI-28 (tokens are shown; 🪙 and the cost)
  it('are a coin with what it used and cost, as far as that is known', () => {
    expect(rendered(<SpentMark usage={{ tokens_used: 1234, cost_usd: 0.0123 }} />)).toMatchObject({ text: '🪙 1,234 tokens · $0.0123', coin: true });
    expect(rendered(<SpentMark usage={{ input_tokens: 10, output_tokens: 2, cost_usd: null }} />).text).toBe('🪙 12 tokens');
    expect(rendered(<SpentMark usage={{ tokens_used: 1, cost_usd: 0 }} />).text).toBe('🪙 1 token');
    expect(rendered(<SpentMark usage={undefined} />)).toMatchObject({ text: '', coin: false });
  });
});
