import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { act } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { report } from './fixtures.ts';
import { Rehearsal } from './Rehearsal.tsx';

let root: Root;
let place: HTMLElement;

beforeEach(() => {
  (globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true;
  place = document.body.appendChild(document.createElement('div'));
  root = createRoot(place);
});
afterEach(() => {
  act(() => root.unmount());
  place.remove();
});

const figure = (name: string) => [...place.querySelectorAll('dt')].find((term) => term.textContent === name)?.nextElementSibling;

// Requirements: CFG-11
describe('the report of a rehearsal', () => {
  it('has every figure before and after, with its sign and what it means', () => {
    act(() => root.render(<Rehearsal report={report} />));
    expect(figure('go another way')?.textContent).toBe('11 of 50');
    expect(figure('fail')?.textContent).toBe('2 → 1 −1');
    expect(figure('fail')?.querySelector('b')?.dataset['tone']).toBe('good');
    expect(figure('median time')?.querySelector('b')?.dataset['tone']).toBe('bad');
    expect(figure('branches taken')?.textContent).toBe('3 of 4');
  });

  it('opens examples side by side from where ways part, each with its run', () => {
    act(() => root.render(<Rehearsal report={report} />));
    const example = place.querySelector('.example')!;
    expect([...example.querySelectorAll('[data-parted] code')].map((node) => node.textContent)).toEqual(['node_plain', 'node_end', 'node_rag', 'node_end']);
    expect(example.querySelector('a')?.getAttribute('href')).toBe(`/operate/runs/${report.examples!['moved']![0]!.run_id}`);
  });

  it('says that nothing was recorded instead of showing noughts', () => {
    act(() => root.render(<Rehearsal report={{ ...report, sample: { ...report.sample, taken: 0 } }} />));
    expect(place.querySelectorAll('dl')).toHaveLength(0);
    expect(place.textContent).toContain('No run of this artifact has been recorded yet');
  });
});
