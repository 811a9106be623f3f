import { useWords } from '../i18n/index.ts';

/** Settings: who is signed in, how things look, what is kept here (UI-14). */
export default function SettingsPage() {
  const words = useWords();
  return (
    <div className="pages-body">
      <h1>{words.settings}</h1>
    </div>
  );
}
