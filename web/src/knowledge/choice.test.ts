import { expect, it } from 'vitest';
import { chosenContext, contextOf, forgetContext } from './choice.ts';

// Requirements: UI-06
it('a context that is gone is chosen nowhere any more, and others stay chosen', () => {
  chosenContext.set({ c1: 'gone', c2: 'law', c3: '' });
  forgetContext('gone');
  expect(chosenContext.get()).toEqual({ c2: 'law', c3: '' });
  expect(['c1', 'c2'].map((one) => contextOf(chosenContext.get(), one, null))).toEqual(['', 'law']);
});
