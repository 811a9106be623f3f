import { useRef } from 'react';
import { Link, useLocation } from 'wouter';
import { session, signOut } from '../api/session.ts';
import { forgetEdits } from '../artifacts/edits.ts';
import { useUIConfig } from '../api/queries.ts';
import { useWords } from '../i18n/index.ts';
import { useStore } from '../lib/store.ts';
import { Icon } from './Icon.tsx';
import { LanguageSwitch } from './LanguageSwitch.tsx';
import { ThemeSelect } from './ThemeSelect.tsx';

/** Who is signed in, and how things look. */
export function AccountMenu() {
  const words = useWords();
  const { user } = useStore(session);
  const config = useUIConfig();
  const [, go] = useLocation();
  const menu = useRef<HTMLDivElement>(null);
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
        <ThemeSelect />
        <div className="choice">
          <span>{words.language}</span>
          <LanguageSwitch />
        </div>
        <Link href="/settings" className="button" onClick={() => menu.current?.hidePopover()}>
          {words.settings}
        </Link>
        <Link href="/settings/learning" className="button" onClick={() => menu.current?.hidePopover()}>
          {words.learning}
        </Link>
        <button
          type="button"
          onClick={() => {
            forgetEdits();
            go('/'); // the page of one is not where the next begins
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
