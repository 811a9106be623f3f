// The words of the second factor's settings, which come with their page.

import { language, type Language } from '../i18n/index.ts';
import { useStore } from '../lib/store.ts';

const en = {
  twoSteps: 'Two-step sign-in',
  twoStepsOff: 'Off. With it, a sign-in asks for a code of an authenticator app as well: a stolen password is then not enough.',
  twoStepsOn: (left: number): string => `On. ${left === 1 ? '1 recovery code is' : `${left} recovery codes are`} left.`,
  secretText: 'Or type the secret in:',
  copySecret: 'Copy the secret',
  firstCode: 'Enter the code the app shows. This signs you out everywhere else.',
};

type FactorWords = typeof en;

const de: FactorWords = {
  twoSteps: 'Anmeldung in zwei Schritten',
  twoStepsOff: 'Aus. Eingeschaltet fragt jede Anmeldung auch nach einem Code einer Authenticator-App: Ein gestohlenes Passwort reicht dann nicht.',
  twoStepsOn: (left) => `Ein. ${left === 1 ? '1 Wiederherstellungscode ist' : `${left} Wiederherstellungscodes sind`} übrig.`,
  secretText: 'Oder tippe das Geheimnis ein:',
  copySecret: 'Geheimnis kopieren',
  firstCode: 'Gib den Code ein, den die App zeigt. Das meldet dich überall sonst ab.',
};

const dictionaries: Record<Language, FactorWords> = { en, de };

/** The words in the language that was chosen. */
export function useFactorWords(): FactorWords {
  return dictionaries[useStore(language)];
}
