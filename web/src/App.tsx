import { lazy, Suspense, useCallback, useEffect, useState, type ReactNode } from 'react';
import { useLocation } from 'wouter';
import { arrival, type Arrival } from './account/arrival.ts';
import { keepNext, takeNext } from './account/next.ts';
import { accountSentence } from './account/errors.ts';
import { enterByCookie, restore, session } from './api/session.ts';
import { useWords } from './i18n/index.ts';
import './forgetPerson.ts';
import { useStore } from './lib/store.ts';
import { ErrorBoundary } from './shell/ErrorBoundary.tsx';
import { Mark } from './shell/Mark.tsx';
import { Shell } from './shell/Shell.tsx';

const DocsPage = lazy(() => import('./docs/DocsPage.tsx'));
const SignIn = lazy(async () => ({ default: (await import('./shell/SignIn.tsx')).SignIn })); // whoever is in comes past no door
const ConsentPage = lazy(() => import('./consent/ConsentPage.tsx')); // only programs lead there
const Landing = lazy(async () => ({ default: (await import('./account/Landing.tsx')).Landing })); // only links of mails lead there

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
  const [location, go] = useLocation();
  const [away, setAway] = useState(''); // why nobody can tell who is there
  const find = useCallback(() => {
    setAway('');
    whoIsThere().catch((error: unknown) => setAway(accountSentence(error)));
  }, []);
  useEffect(find, [find]);

  // Somebody who came for a page and had to sign in first goes on to it.
  const inside = state === 'in' && (came === null || came.kind === 'signed_in');
  useEffect(() => {
    if (state !== 'in') keepNext();
    const next = inside ? takeNext() : null;
    if (next !== null) go(next, { replace: true });
  }, [state, inside, go]);

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
  return <ErrorBoundary>{page(came, state !== 'in' ? <Door /> : location === '/consent' ? <Asked key={owner} /> : <Shell key={owner} />)}</ErrorBoundary>;
}

/** It waits for itself alone: what was there before it is gone at once, and not hidden until it comes. */
function Door() {
  return (
    <Suspense fallback={null}>
      <SignIn />
    </Suspense>
  );
}

function Asked() {
  return (
    <Suspense fallback={null}>
      <ConsentPage />
    </Suspense>
  );
}

/** What somebody came for by a link of a mail goes before where they are. */
function page(came: Arrival | null, ordinary: ReactNode): ReactNode {
  if (came?.kind === 'reset' || came?.kind === 'confirm') {
    return (
      <Suspense fallback={null}>
        <Landing came={came} />
      </Suspense>
    );
  }
  return came?.kind === 'factor' ? <Door /> : ordinary;
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
