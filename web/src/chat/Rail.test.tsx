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
