import { ask } from '../api/ask.ts';
import { session } from '../api/session.ts';
import { language, setLanguage, useWords, type Language } from '../i18n/index.ts';
import { useStore } from '../lib/store.ts';

const names: Record<Language, string> = { de: 'Deutsch', en: 'English' };

/** Speaks a language, and has the server ask its questions in it. */
function choose(one: Language) {
  setLanguage(one);
  // The page has the language already; where the server is not told now, it keeps the last one.
  if (session.get().user) ask('changeSettings', { body: { locale: one } }).catch(() => undefined);
}

export function LanguageSwitch() {
  const words = useWords();
  const current = useStore(language);
  return (
    <div className="languages" role="group" aria-label={words.language}>
      {(Object.keys(names) as Language[]).map((one) => (
        <button key={one} type="button" lang={one} aria-pressed={one === current} aria-label={`${one.toUpperCase()}, ${names[one]}`} title={names[one]} onClick={() => choose(one)}>
          {one.toUpperCase()}
        </button>
      ))}
    </div>
  );
}
