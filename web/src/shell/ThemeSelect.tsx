import { useWords } from '../i18n/index.ts';
import { useStore } from '../lib/store.ts';
import { setTheme, theme, type Theme } from '../lib/theme.ts';

/** Light, dark, or as the system has it. */
export function ThemeSelect() {
  const words = useWords();
  const names: Record<Theme, string> = { system: words.themeSystem, light: words.themeLight, dark: words.themeDark };
  return (
    <label className="choice">
      <span>{words.theme}</span>
      <select value={useStore(theme)} onChange={(event) => setTheme(event.target.value as Theme)}>
        {(Object.keys(names) as Theme[]).map((one) => (
          <option key={one} value={one}>
            {names[one]}
          </option>
        ))}
      </select>
    </label>
  );
}
