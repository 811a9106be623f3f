import '../styles/pages.ts';
import { lazy, Suspense } from 'react';
import { Link, useRoute } from 'wouter';
import { SecuritySections } from '../account/SecuritySections.tsx';
import { currentSession, session } from '../api/session.ts';
import { useWords } from '../i18n/index.ts';
import { useStore } from '../lib/store.ts';
import { Card } from '../operate/parts.tsx';
import { CopyButton } from '../shell/CopyButton.tsx';
import { LanguageSwitch } from '../shell/LanguageSwitch.tsx';
import { ThemeSelect } from '../shell/ThemeSelect.tsx';
import { About } from './About.tsx';
import { Drafts } from './Drafts.tsx';
import { Notices } from './Notices.tsx';
import { Uploads } from './Uploads.tsx';

const LearningPage = lazy(() => import('../learning/LearningPage.tsx'));

/** Settings: who is signed in, how things look, what is kept here (UI-14); and beside them what is learnt of a person. */
export default function SettingsPage() {
  const words = useWords();
  const [learning] = useRoute('/settings/learning');
  return (
    <div className="pages-body settings">
      <header className="page-head">
        <h1>{learning ? words.learning : words.settings}</h1>
        <nav className="pills pill-row" aria-label={words.settings}>
          <Link href="/settings" aria-current={learning ? undefined : 'page'}>
            {words.settingsGeneral}
          </Link>
          <Link href="/settings/learning" aria-current={learning ? 'page' : undefined}>
            {words.learning}
          </Link>
        </nav>
      </header>
      {learning ? (
        <Suspense fallback={<p className="hint opening">{words.loadingPage}</p>}>
          <LearningPage />
        </Suspense>
      ) : (
        <General />
      )}
    </div>
  );
}

function General() {
  const words = useWords();
  return (
    <div className="sides">
      <div className="stack">
        <SessionCard />
        <Looks />
        <Card title={words.settingsSafety}>
          <SecuritySections />
        </Card>
      </div>
      <div className="stack">
        <Notices />
        <Drafts />
        <Uploads />
        <About />
      </div>
    </div>
  );
}

/** Whose session this is; its whole id is for the clipboard only. */
function SessionCard() {
  const words = useWords();
  const { user } = useStore(session);
  const id = currentSession();
  if (!user) return null;
  return (
    <Card title={words.settingsSession}>
      <dl className="facts">
        <dt>{words.email}</dt>
        <dd>{user.email}</dd>
        <dt>{words.settingsUser}</dt>
        <dd>
          <code>{user.id}</code> <CopyButton text={user.id} label={words.copyUserID} icon />
        </dd>
        <dt>{words.settingsRole}</dt>
        <dd>{words.roleOf(user.role)}</dd>
        <dt>{words.settingsTenant}</dt>
        <dd>{user.tenant_id}</dd>
        <dt>{words.settingsPlan}</dt>
        <dd>{user.plan}</dd>
        {id && (
          <>
            <dt>{words.settingsSessionID}</dt>
            <dd>
              <code>{`${id.slice(0, 8)}…`}</code> <CopyButton text={id} label={words.copySessionID} icon />
            </dd>
          </>
        )}
      </dl>
    </Card>
  );
}

function Looks() {
  const words = useWords();
  return (
    <Card title={words.settingsLooks}>
      <div className="choice">
        <span>{words.language}</span>
        <LanguageSwitch />
      </div>
      <ThemeSelect />
    </Card>
  );
}
