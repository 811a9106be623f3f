import type { Language } from '../i18n/index.ts';

/** A text in a language, or in English where it is not there. */
export function said(text: Record<string, string>, locale: Language): string {
  return text[locale]?.trim() || text['en']?.trim() || '';
}
