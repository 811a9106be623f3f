// The words of what is loaded when a document or its file is opened: the first
// page does without them.

import { language, type Language } from '../i18n/index.ts';
import { useStore } from '../lib/store.ts';

const en = {
  openPDF: 'Open the PDF',
  openPDFAt: (n: number) => `Open the PDF at page ${n}`,
  documentAsRead: 'The document as it was read',
  documentUnread: 'Nothing of it has been read.',
};

const de: typeof en = {
  openPDF: 'PDF öffnen',
  openPDFAt: (n) => `PDF auf Seite ${n} öffnen`,
  documentAsRead: 'Das Dokument, wie es gelesen wurde',
  documentUnread: 'Davon ist noch nichts gelesen.',
};

const dictionaries: Record<Language, typeof en> = { en, de };

export function useDocumentWords(): typeof en {
  return dictionaries[useStore(language)];
}
