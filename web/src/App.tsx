import { lazy, Suspense, useCallback, useEffect, useState, type ReactNode } from 'react';
import { useLocation } from 'wouter';
import { arrival, type Arrival } from './account/arrival.ts';
import { Landing } from './account/Landing.tsx';
import { accountSentence } from './account/errors.ts';
import { enterByCookie, restore, session } from './api/session.ts';
import { useWords } from './i18n/index.ts';
import './forgetPerson.ts';
import { useStore } from './lib/store.ts';
import { ErrorBoundary } from './shell/ErrorBoundary.tsx';
import { Mark } from './shell/Mark.tsx';
import { Shell } from './shell/Shell.tsx';
import { SignIn } from './shell/SignIn.tsx';

const DocsPage = lazy(() => import('./docs/DocsPage.tsx'));

/** The reference of the API asks nobody who they are; everything else does. */
export function App() {
  const [location] = useLocation();
  if (location !== '/docs' && !location.startsWith('/docs/')) return <Program />;
  return (
    <ErrorBoundary>
      <Suspense fallback={null}>
        <DocsPage />
      </Suspense>
    </ErrorBoundary>
  );
}

function Program() {
  const { state, user } = useStore(session);
  const came = useStore(arrival);
  const [away, setAway] = useState(''); // why nobody can tell who is there
  const find = useCallback(() => {
    setAway('');
    whoIsThere().catch((error: unknown) => setAway(accountSentence(error)));
  }, []);
  useEffect(find, [find]);

  // The title names what was read; all else of theirs goes in forgetPerson.ts.
  const owner = user?.id ?? null;
  useEffect(
    () => () => {
      if (owner !== null) document.title = 'Liminal';
    },
    [owner],
  );

  if (away) return <Away why={away} retry={find} />;
  if (state === 'unknown') return null;
  return <ErrorBoundary>{page(came, state === 'in' ? <Shell key={owner} /> : <SignIn />)}</ErrorBoundary>;
}

/** What somebody came for by a link of a mail goes before where they are. */
function page(came: Arrival | null, ordinary: ReactNode): ReactNode {
  if (came?.kind === 'reset' || came?.kind === 'confirm') return <Landing came={came} />;
  return came?.kind === 'factor' ? <SignIn /> : ordinary;
}

/** Finds out on load who is signed in; a provider that sent somebody back left a cookie. */
async function whoIsThere(): Promise<void> {
  if (arrival.get()?.kind !== 'signed_in') return restore();
  arrival.set((await enterByCookie()) ? null : { kind: 'refused' });
}

function Away({ why, retry }: { why: string; retry(): void }) {
  const words = useWords();
  return (
    <main className="away">
      <Mark />
      <h1>Liminal</h1>
      <p role="alert">{why}</p>
      <button type="button" onClick={retry}>
        {words.tryAgain}
      </button>
    </main>
  );
}
