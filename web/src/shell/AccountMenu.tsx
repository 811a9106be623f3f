import { useRef } from 'react';
import { session, signOut } from '../api/session.ts';
import { forgetEdits } from '../artifacts/edits.ts';
import { useUIConfig } from '../api/queries.ts';
import { useWords } from '../i18n/index.ts';
import { useStore } from '../lib/store.ts';
import { setTheme, theme, type Theme } from '../lib/theme.ts';
import { panel } from '../panel/state.ts';
import { Icon } from './Icon.tsx';
import { LanguageSwitch } from './LanguageSwitch.tsx';

/** Who is signed in, and how things look. */
export function AccountMenu() {
  const words = useWords();
  const { user } = useStore(session);
  const config = useUIConfig();
  const chosen = useStore(theme);
  const menu = useRef<HTMLDivElement>(null);
  const themes: Record<Theme, string> = { system: words.themeSystem, light: words.themeLight, dark: words.themeDark };
  return (
    <>
      <button type="button" className="icon-button" popoverTarget="account" aria-label={words.account} title={words.account}>
        <Icon name="person" />
      </button>
      <div ref={menu} id="account" popover="auto" className="menu" role="dialog" aria-label={words.account}>
        <p className="who">
          {user?.email}
          {user?.role === 'admin' && <small>{words.administrator}</small>}
        </p>
        <label className="choice">
          <span>{words.theme}</span>
          <select value={chosen} onChange={(event) => setTheme(event.target.value as Theme)}>
            {(Object.keys(themes) as Theme[]).map((one) => (
              <option key={one} value={one}>
                {themes[one]}
              </option>
            ))}
          </select>
        </label>
        <div className="choice">
          <span>{words.language}</span>
          <LanguageSwitch />
        </div>
        <button
          type="button"
          onClick={() => {
            menu.current?.hidePopover(); // gives the focus back, so that the sheet knows where to leave it
            panel.set({ kind: 'security' });
          }}
        >
          {words.security}
        </button>
        <button
          type="button"
          onClick={() => {
            forgetEdits();
            void signOut();
          }}
        >
          {words.signOut}
        </button>
        {config.data && <small className="build">{words.version(config.data.version)}</small>}
      </div>
    </>
  );
}
