// What the server says, in German: loaded where the page is.

import type { Sentence } from '../api/gen.ts';
import all from './sentences.de.json';

const sentences: Readonly<Record<string, string>> = all;
const place = /\{(\d+)\}/g;

/** So many letters have to stand between the values of a sentence, to know it without its parts. */
const telling = 7;

interface Form {
  text: string;
  reads: RegExp;
}

let known: Form[] | undefined;

/** Sentences with values, the most telling first. */
function forms(): Form[] {
  const letters = (text: string) => text.replace(place, '').length;
  return (known ??= Object.keys(sentences)
    .filter((text) => text.search(place) >= 0 && letters(text) >= telling)
    .toSorted((a, b) => letters(b) - letters(a))
    .map((text) => ({ text, reads: new RegExp(`^${text.split(place).map((part, n) => (n % 2 ? '(.*?)' : part.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&'))).join('')}$`, 's') })));
}

/** A sentence that came whole: an older program wrote it, or a workflow put it together. */
function takenApart(text: string): Sentence | undefined {
  for (const form of forms()) {
    const found = form.reads.exec(text);
    if (found) return { text: form.text, values: found.slice(1).map(unquoted) };
  }
  return undefined;
}

/** A value without the quotation marks of the English sentence: the German one has its own. */
function unquoted(value: string): string {
  if (!/^"([^"\\]|\\.)*"$/s.test(value)) return value;
  try {
    return JSON.parse(value) as string;
  } catch {
    return value.slice(1, -1); // an escape that only Go writes
  }
}

/** What a sentence is about, before it: "a.pdf": it is damaged; or, of several artifacts, workflow sorts: it has no nodes. */
const about = /^(?:("(?:[^"\\]|\\.)*")|([a-z._]+ [^\s:]+)): (.+)$/s;

export function german(text: string, said?: Sentence | null): string | undefined {
  if (said) return put(said);
  if (sentences[text] !== undefined) return put({ text, values: [] });
  const [, quoted, plain, rest = ''] = about.exec(text) ?? [];
  const says = rest && german(rest);
  if (says && quoted) return `„${unquoted(quoted)}“: ${says}`;
  return put(takenApart(text)) ?? (says ? `${plain}: ${says}` : undefined);
}

function put(said: Sentence | undefined): string | undefined {
  return said && sentences[said.text]?.replace(place, (_, n: string) => {
    const value = said.values[Number(n) - 1] ?? '';
    return german(value) ?? value; // it may be a sentence itself
  });
}
