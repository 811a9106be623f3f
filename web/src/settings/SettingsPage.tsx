import '../styles/pages.ts';
import { lazy, Suspense } from 'react';
import { Link, Redirect, useRoute } from 'wouter';
import { SecuritySections } from '../account/SecuritySections.tsx';
import { usePalace } from '../api/palace.ts';
import { useUIConfig } from '../api/queries.ts';
import { currentSession, session } from '../api/session.ts';
import { readCame } from '../connections/came.ts';
import { useWords } from '../i18n/index.ts';
import { useStore } from '../lib/store.ts';
import { Card } from '../operate/parts.tsx';
import { usePeopleWords } from '../people/words.ts';
import { CopyButton } from '../shell/CopyButton.tsx';
import { LanguageSwitch } from '../shell/LanguageSwitch.tsx';
import { ThemeSelect } from '../shell/ThemeSelect.tsx';
import { About } from './About.tsx';
import { Drafts } from './Drafts.tsx';
import { Notices } from './Notices.tsx';
import { Uploads } from './Uploads.tsx';

const VoiceCard = lazy(() => import('../voice/VoiceCard.tsx'));
const beside = {
  learning: lazy(() => import('../learning/LearningPage.tsx')),
  keys: lazy(() => import('../keys/KeysPage.tsx')),
  connections: lazy(() => import('../connections/ConnectionsPage.tsx')),
  webhooks: lazy(() => import('../webhooks/WebhooksPage.tsx')),
};
const isBeside = (name: string | undefined): name is keyof typeof beside => name !== undefined && Object.hasOwn(beside, name);

/**
 * Settings: who is signed in, how things look, what is kept here (UI-14); and beside them what is learnt of a person, keys
 * for programs, accounts elsewhere, and who is told of runs.
 */
export default function SettingsPage() {
  const words = useWords();
  const [, params] = useRoute('/settings/:part');
  const part = isBeside(params?.part) ? params.part : null;
  const captured = usePalace();
  const titles = { learning: words.learning, keys: words.accessKeys, connections: words.connections, webhooks: words.webhooks };
  // Where a server sends a person back to of whom it is not known where they began.
  if (!part && readCame(location.hash)) return <Redirect to={`/settings/connections${location.hash}`} replace />;
  const Beside = part && beside[part];
  return (
    <div className="pages-body settings">
      <header className="page-head">
        <h1>{part ? titles[part] : words.settings}</h1>
        <nav className="pills pill-row" aria-label={words.settings}>
          <Link href="/settings" aria-current={part ? undefined : 'page'}>
            {words.settingsGeneral}
          </Link>
          {Object.entries(titles).map(([one, title]) => (
            <Link key={one} href={`/settings/${one}`} aria-current={one === part ? 'page' : undefined}>
              {title}
            </Link>
          ))}
          {captured && <Link href="/operate/palace">Palace</Link>}
        </nav>
      </header>
      {Beside ? (
        <Suspense fallback={<p className="hint opening">{words.loadingPage}</p>}>
          <Beside />
        </Suspense>
      ) : (
        <General />
      )}
    </div>
  );
}

function General() {
  const words = useWords();
  const speaks = useUIConfig().data?.text_to_speech;
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
        {speaks && (
          <Suspense>
            <VoiceCard />
          </Suspense>
        )}
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
  const { planName } = usePeopleWords();
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
        <dd>{planName(user.plan)}</dd>
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
