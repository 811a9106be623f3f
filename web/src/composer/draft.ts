// Drafts as the box has them: lines, with what they mention.

import { readDraft, readDraftDoc, writeDraft } from '../lib/drafts.ts';
import { docOfLines, linesOfText, mentionsIn, ownLinesOf, textOfLines, type Piece } from './doc.ts';

/** The lines of a draft; its text alone where the document is of other words, or missing. */
export function draftLines(key: string): Piece[][] {
  const text = readDraft(key);
  const lines = ownLinesOf(readDraftDoc(key));
  return lines && textOfLines(lines) === text ? lines : linesOfText(text);
}

export function saveDraft(key: string, lines: Piece[][]): void {
  writeDraft(key, textOfLines(lines), mentionsIn(lines).length > 0 ? docOfLines(lines) : undefined);
}

/** Puts lines above what a draft holds, unless it holds just them. */
export function putAbove(key: string, lines: Piece[][]): void {
  const typed = draftLines(key);
  const text = textOfLines(typed);
  saveDraft(key, text !== '' && text !== textOfLines(lines) ? [...lines, ...typed] : lines);
}
