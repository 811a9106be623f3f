// The files documents were read from. They are given out by signed links, which
// are asked for when somebody wants one: they live for minutes.

import { ask } from './ask.ts';

export function isPDF(path: string): boolean {
  return path.toLowerCase().endsWith('.pdf');
}

/** Saves the file of a document, as a download. */
export async function saveFile(document: string): Promise<void> {
  const { url } = await ask('linkDocument', { path: { id: document }, body: {} });
  const link = window.document.createElement('a');
  link.href = url;
  link.download = '';
  link.click();
}

/**
 * Opens the PDF of a document in a tab, which the browser's own reader shows. The
 * tab is opened first: after the answer it would be a pop-up.
 */
export async function openPDF(document: string, page?: number): Promise<void> {
  const tab = window.open('', '_blank');
  if (tab) tab.opener = null;
  try {
    const { url } = await ask('linkDocument', { path: { id: document }, body: { inline: true } });
    const address = page ? `${url}#page=${page}` : url;
    if (tab) tab.location.replace(address);
    else window.location.assign(address); // no tab may be opened here
  } catch (error) {
    tab?.close();
    throw error;
  }
}
