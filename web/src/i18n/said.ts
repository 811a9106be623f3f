// The server's sentences in the reader's language. Those of failures come with the text
// that names them and their values; English is what the server wrote.

import type { Sentence } from '../api/gen.ts';
import { createStore, useStore } from '../lib/store.ts';
import { language } from './index.ts';

/** Gives a sentence in another language; undefined: nobody has said it there. */
type Sayer = (text: string, said?: Sentence | null) => string | undefined;

const german = createStore<Sayer | null>(null);

function load(): void {
  if (language.get() !== 'de' || german.get()) return;
  void import('./sentences.ts').then((all) => german.set(all.german), () => undefined); // without them it is said in English
}

language.subscribe(load);
load();

/** A sentence of the server's: text as it wrote it, said as it took it apart. */
export function told(text: string, said?: Sentence | null): string {
  return (language.get() === 'de' && german.get()?.(text, said)) || text;
}

export function useTold(): typeof told {
  useStore(language);
  useStore(german);
  return told;
}
