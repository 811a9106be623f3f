import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { dictionaries } from './words.ts';

/** The numbers of plans, as the server ships them. */
const { numbers } = JSON.parse(readFileSync('../internal/quota/plans.json', 'utf8')) as { numbers: { key: string }[] };

it('every number of a plan has a name in every language', () => {
  for (const words of Object.values(dictionaries)) {
    expect(Object.keys(words.numbers).toSorted()).toEqual(numbers.map((one) => one.key).toSorted());
  }
});
