// What stands in forms that are not sent yet, so that it is still there when a
// person comes back to them. It goes with the person (forgetPerson).

import type { Entries } from './answer.ts';

const kept = new Map<string, Entries>();

export const keptEntries = (form: string): Entries | undefined => kept.get(form);
export const keepEntries = (form: string, entries: Entries): void => void kept.set(form, entries);
export const dropEntries = (form: string): void => void kept.delete(form);
export const forgetForms = (): void => kept.clear();
