import { flushSync } from 'react-dom';
import { createRoot } from 'react-dom/client';
import { expect, it } from 'vitest';
import { Picture } from './Picture.tsx';

const doc = {
  entrypoint: 'a',
  nodes: [
    { id: 'a', type: 'tool_call', tool: 'llm.intent_classifier_v1', on_error: 'gone' },
    {
      id: 's',
      type: 'switch',
      branches: [
        { when: "intent == 'qa'", next: 'b' },
        { when: 'true', next: 'c' },
      ],
    },
    { id: 'b', type: 'end' },
    { id: 'c', type: 'end' },
    { id: 'd', type: 'end' },
  ],
};

function drawn(element: React.ReactNode): HTMLElement {
  const box = document.createElement('div');
  flushSync(() => createRoot(box).render(element));
  return box;
}

it('writes conditions in their order inside the switch, and numbers its lines', () => {
  const box = drawn(<Picture doc={doc} />);
  expect([...box.querySelectorAll('.node.switch .condition')].map((one) => one.textContent)).toEqual(["1  intent == 'qa'", '2  true']);
  expect([...box.querySelectorAll('.branch-number')].map((one) => one.textContent)).toEqual(['1', '2']);
  expect(box.querySelectorAll('.wire.thin')).toHaveLength(1);
});

it('says in words what is missing and what nothing leads to', () => {
  expect([...drawn(<Picture doc={doc} />).querySelectorAll('.flaws li')].map((one) => one.textContent)).toEqual(['a leads to gone, which is not a node.', 'Nothing leads to: d.']);
});

it('shows what is touched, what was seen, and the way that was taken', () => {
  const box = drawn(<Picture doc={doc} touched={new Set(['b'])} seen={new Map([['a', 3]])} path={['a', 's', 'b']} />);
  expect(box.querySelectorAll('.node.touched')).toHaveLength(1);
  expect(box.querySelector('.visits')?.textContent).toBe('3×');
  expect(box.querySelectorAll('.node.unseen')).toHaveLength(5);
  expect(box.querySelectorAll('.wire.taken')).toHaveLength(2);
});
