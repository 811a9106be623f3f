import { language, setLanguage, useWords, type Language } from '../i18n/index.ts';
import { useStore } from '../lib/store.ts';

const names: Record<Language, string> = { de: 'Deutsch', en: 'English' };

export function LanguageSwitch() {
  const words = useWords();
  const current = useStore(language);
  return (
    <div className="languages" role="group" aria-label={words.language}>
      {(Object.keys(names) as Language[]).map((one) => (
        <button key={one} type="button" lang={one} aria-pressed={one === current} aria-label={`${one.toUpperCase()}, ${names[one]}`} title={names[one]} onClick={() => setLanguage(one)}>
          {one.toUpperCase()}
        </button>
      ))}
    </div>
  );
}
