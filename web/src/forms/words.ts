// The words of forms, which are loaded with the first one.

import type { Dictionary } from '../i18n/en.ts';
import { language, useWords, type Language } from '../i18n/index.ts';
import { useStore } from '../lib/store.ts';

export const en = {
  formOptional: 'if you like',
  formApprove: 'Approve',
  formDecline: 'Decline',
  formChoose: 'Please choose',
  formWholeAnswer: 'Your answer',
  formLines: 'One on each line',
  formMissing: 'Please fill this in.',
  formWhole: 'Please enter a whole number.',
  formAtLeast: (n: number) => `Please enter ${n} or more.`,
  formAtMost: (n: number) => `Please enter ${n} or less.`,
  formTooShort: (n: number) => `Please write at least ${n} characters.`,
  formTooLong: (n: number) => `Please write at most ${n} characters.`,
  formJson: (why: string) => `This is not JSON: ${why}`,
};

export type FormWords = Dictionary & typeof en;

const de: typeof en = {
  formOptional: 'wenn du magst',
  formApprove: 'Freigeben',
  formDecline: 'Ablehnen',
  formChoose: 'Bitte wählen',
  formWholeAnswer: 'Deine Antwort',
  formLines: 'Eine Angabe je Zeile',
  formMissing: 'Bitte fülle das aus.',
  formWhole: 'Bitte gib eine ganze Zahl an.',
  formAtLeast: (n) => `Bitte gib ${n} oder mehr an.`,
  formAtMost: (n) => `Bitte gib ${n} oder weniger an.`,
  formTooShort: (n) => `Bitte schreib mindestens ${n} Zeichen.`,
  formTooLong: (n) => `Bitte schreib höchstens ${n} Zeichen.`,
  formJson: (why) => `Das ist kein JSON: ${why}`,
};

const dictionaries: Record<Language, typeof en> = { en, de };

/** The words of the chosen language, those of forms among them. */
export function useFormWords(): FormWords {
  return { ...useWords(), ...dictionaries[useStore(language)] };
}
