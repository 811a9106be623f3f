import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { act } from 'react';
import { createRoot } from 'react-dom/client';
import { beforeEach, describe, expect, it } from 'vitest';
import { setLanguage } from '../i18n/index.ts';
import { SurfaceContext, type Surface } from '../knowledge/surface.ts';
import { StepsLine } from './Rail.tsx';
import type { Step } from './run.ts';

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });

const harbour: Surface = { title: 'Harbour master', tagline: '', empty: '', placeholder: '', thinking: 'The harbour master is looking …', starters: [] };

function step(node: string, label = node): Step {
  return { kind: 'step', key: node, node, label, done: false, docs: [], query: '' };
}

/** What the line says in words. */
function line(surface: Surface | null, steps: Step[], over = false): string {
  const box = document.createElement('div');
  const root = createRoot(box);
  act(() =>
    root.render(
      <SurfaceContext value={surface}>
        <StepsLine steps={steps} over={over} />
      </SurfaceContext>,
    ),
  );
  const said = box.querySelector('.shimmer')?.textContent ?? '';
  act(() => root.unmount());
  return said;
}

describe('the line of steps', () => {
  beforeEach(() => setLanguage('en'));

  // Requirements: UI-24 (document pills; shimmer and ✦; 🔍 and the query)
  it('shimmers, and shows what a step found and what it looks for', () => {
    const box = document.createElement('div');
    const root = createRoot(box);
    const found = { ...step('search', 'Finding documents...'), docs: [{ id: 'd', title: 'Capital rules' }], query: 'capital rules 2026' };
    act(() => root.render(<StepsLine steps={[found]} over={false} />));
    const summary = box.querySelector('summary')!;
    expect(summary.querySelector('.shimmer')?.textContent).toBe('Finding documents...');
    expect([...summary.querySelectorAll('.pill')].map((pill) => pill.textContent)).toEqual(['Capital rules', '“capital rules 2026”']);
    expect(summary.querySelector('.pill.sought')?.textContent).toBe('“capital rules 2026”');
    act(() => root.unmount());
    const style = readFileSync(join(import.meta.dirname, 'Rail.css'), 'utf8');
    for (const [what, mark] of [
      [".steps[data-state='live'] .shimmer", '✦'],
      ['.steps .pill', '📄'],
      ['.steps .pill.sought', '🔍'],
    ]) {
      expect(style).toContain(`${what}::before {\n  content: '${mark} ';`);
    }
  });

  it('says what a workflow says while it thinks, wherever no step says more, until the answer begins', () => {
    expect(line(harbour, [])).toBe('The harbour master is looking …');
    expect(line(harbour, [step('look')])).toBe('The harbour master is looking …');
    expect(line(harbour, [step('look'), step('tides', 'Reading the tables…')])).toBe('Reading the tables…');
    expect(line(harbour, [], true)).toBe('');
    expect(line(harbour, [step('look')], true)).toBe('');
  });

  it('is as any other where a workflow says nothing', () => {
    for (const surface of [null, { ...harbour, thinking: '' }]) {
      expect(line(surface, [])).toBe('Starting…');
      expect(line(surface, [step('look')])).toBe('look');
      expect(line(surface, [], true)).toBe('');
    }
  });
});
