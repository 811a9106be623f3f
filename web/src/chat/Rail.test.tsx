import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { act } from 'react';
import { createRoot } from 'react-dom/client';
import { beforeEach, describe, expect, it } from 'vitest';
import { setLanguage } from '../i18n/index.ts';
import { SurfaceContext, type Surface } from '../knowledge/surface.ts';
import { EvidenceLine, StepsLine } from './Rail.tsx';
import type { Evidence, Step } from './run.ts';

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });

const harbour: Surface = { title: 'Harbour master', tagline: '', empty: '', placeholder: '', thinking: 'The harbour master is looking …', accent: '', starters: [] };

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

describe('a line of evidence', () => {
  const call: Evidence = { kind: 'tool', key: 'k', name: 'search_my_deadlines', args: {}, status: 'ok', summary: '3 results', result: undefined, ms: null };

  function said(evidence: Evidence): string {
    const box = document.createElement('div');
    const root = createRoot(box);
    act(() => root.render(<EvidenceLine evidence={evidence} />));
    const text = box.querySelector('summary')!.textContent.trim();
    act(() => root.unmount());
    return text;
  }

  // Requirements: GRND-20, UI-31 (tool-evidence lines)
  it('says which tool ran and what it found, in both languages', () => {
    setLanguage('en');
    expect(said(call)).toBe('ran search_my_deadlines (3 results)');
    expect(said({ ...call, summary: '' })).toBe('ran search_my_deadlines');
    expect(said({ ...call, status: 'running', summary: '' })).toBe('search_my_deadlines running');
    expect(said({ ...call, status: 'error', summary: 'not_found' })).toBe('search_my_deadlines failed · not_found');
    setLanguage('de');
    expect(said({ ...call, summary: '3 Ergebnisse', ms: 12 })).toMatch(/^ausgeführt: search_my_deadlines \(3 Ergebnisse\) 12/);
  });
});
