import type { ReactNode } from 'react';
import { useWords } from '../i18n/index.ts';
import { LanguageSwitch } from '../shell/LanguageSwitch.tsx';
import { Mark } from '../shell/Mark.tsx';

/** The frame of every page outside the house: the name, one panel, the language. */
export function SignedOutPage({ title, children }: { title: string; children: ReactNode }) {
  const words = useWords();
  return (
    <main className="door">
      <header>
        <Mark />
        <h1>Liminal</h1>
        <p>{words.tagline}</p>
      </header>
      <section className="panel" aria-labelledby="door-title">
        <h2 id="door-title">{title}</h2>
        {children}
      </section>
      <LanguageSwitch />
    </main>
  );
}
