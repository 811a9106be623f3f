import './styles.ts';
import { lazy } from 'react';
import { Link, useLocation, useRoute } from 'wouter';
import { useWords } from '../i18n/index.ts';
import { Decisions } from './Decisions.tsx';
import { PatchPage } from './PatchPage.tsx';
import { RunPage } from './RunPage.tsx';
import { Runs } from './Runs.tsx';
import { useAdmin } from './parts.tsx';

const UsagePage = lazy(() => import('./UsagePage.tsx'));
const BackendsPage = lazy(() => import('./BackendsPage.tsx'));

/** Operate: what waits for a decision, what was decided, how runs went, and how the place is used. */
export default function OperatePage() {
  return (
    <div className="operate">
      <Parts />
      <Part />
    </div>
  );
}

function Parts() {
  const words = useWords();
  const admin = useAdmin();
  const [path] = useLocation();
  const runs = path.startsWith('/operate/runs');
  const usage = path === '/operate/usage';
  const backends = path === '/operate/backends';
  return (
    <nav className="parts" aria-label={words.operateParts}>
      <Link href="/operate" aria-current={path === '/operate' ? 'page' : runs || usage || backends ? undefined : 'true'}>
        {admin ? words.decisions : words.proposals}
      </Link>
      <Link href="/operate/runs" aria-current={path === '/operate/runs' ? 'page' : runs ? 'true' : undefined}>
        {words.runs}
      </Link>
      {admin && (
        <Link href="/operate/usage" aria-current={usage ? 'page' : undefined}>
          {words.usage}
        </Link>
      )}
      {admin && (
        <Link href="/operate/backends" aria-current={backends ? 'page' : undefined}>
          {words.backends}
        </Link>
      )}
    </nav>
  );
}

function Part() {
  const [isPatch, patch] = useRoute('/operate/patches/:id');
  const [isRun, run] = useRoute('/operate/runs/:id');
  const [isRuns] = useRoute('/operate/runs');
  const [isUsage] = useRoute('/operate/usage');
  const [isBackends] = useRoute('/operate/backends');
  if (isPatch) return <PatchPage key={patch.id} id={patch.id} />;
  if (isRun) return <RunPage key={run.id} id={run.id} />;
  if (isUsage) return <UsagePage />;
  if (isBackends) return <BackendsPage />;
  return isRuns ? <Runs /> : <Decisions />;
}
