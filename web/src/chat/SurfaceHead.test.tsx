import { act } from 'react';
import { createRoot } from 'react-dom/client';
import { expect, it } from 'vitest';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Surface } from '../knowledge/surface.ts';
import { SurfaceHead } from './SurfaceHead.tsx';

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });

const plain: Surface = { title: 'Harbour master', tagline: '', empty: '', placeholder: '', thinking: '', accent: '', starters: [] };

function heading(surface: Surface): { marked: boolean; colour: string } {
  const box = document.createElement('div');
  const root = createRoot(box);
  act(() => root.render(<SurfaceHead surface={surface} draftKey="c" />));
  const h2 = box.querySelector('h2')!;
  const out = { marked: h2.classList.contains('marked'), colour: h2.style.getPropertyValue('--mark') };
  act(() => root.unmount());
  return out;
}

// Requirements: GRND-36 (the accent colour)
it('marks the title in the colour of the workflow, and never writes in it', () => {
  expect(heading({ ...plain, accent: '#c6f41c' })).toEqual({ marked: true, colour: '#c6f41c' });
  expect(heading(plain)).toEqual({ marked: false, colour: '' });
  const style = readFileSync(join(import.meta.dirname, 'SurfaceHead.css'), 'utf8');
  expect(style.match(/^.*var\(--mark\).*$/gm)).toEqual(['  border-left: 5px solid var(--mark);']);
});
