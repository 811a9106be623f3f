import type { enPages } from './en.pages.ts';

export const dePages: typeof enPages = {
  tabContexts: 'Kontexte',
  tabSettings: 'Einstellungen',
  contexts: 'Kontexte',
  settings: 'Einstellungen',
};
