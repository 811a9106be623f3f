import { createStore, useStore } from '../lib/store.ts';
import { readItem, writeItem } from '../lib/storage.ts';
import { de } from './de.ts';
import { en, type Dictionary } from './en.ts';

export type Language = 'en' | 'de';
const dictionaries: Record<Language, Dictionary> = { en, de };
const key = 'liminal.language';

function initial(): Language {
  const chosen = readItem('local', key) ?? navigator.language;
  return chosen.toLowerCase().startsWith('de') ? 'de' : 'en';
}

export const language = createStore<Language>(initial());
document.documentElement.lang = language.get();

export function setLanguage(next: Language): void {
  writeItem('local', key, next);
  document.documentElement.lang = next;
  language.set(next);
}

/** The words of the chosen language. */
export function useWords(): Dictionary {
  return dictionaries[useStore(language)];
}

export function words(): Dictionary {
  return dictionaries[language.get()];
}

/** Both names a thing made in either language may have. */
export function inEveryLanguage(pick: (words: Dictionary) => string): string[] {
  return Object.values(dictionaries).map(pick);
}
