import './styles.ts';
import { lazy } from 'react';
import { Link, useLocation, useRoute } from 'wouter';
import { usePalace } from '../api/palace.ts';
import { useWords } from '../i18n/index.ts';
import { useTrainingWords } from '../learning/trainingWords.ts';
import { Decisions } from './Decisions.tsx';
import { PatchPage } from './PatchPage.tsx';
import { RunPage } from './RunPage.tsx';
import { Runs } from './Runs.tsx';
import { useAdmin } from './parts.tsx';

const UsagePage = lazy(() => import('./UsagePage.tsx'));
const PeoplePage = lazy(() => import('../people/PeoplePage.tsx'));
const PersonPage = lazy(() => import('../people/PersonPage.tsx'));
const PlansPage = lazy(() => import('../people/PlansPage.tsx'));
const BackendsPage = lazy(() => import('./BackendsPage.tsx'));
const PalacePage = lazy(() => import('../palace/PalacePage.tsx'));
const TrainingPage = lazy(() => import('./TrainingPage.tsx'));

/** Operate: what waits for a decision, what was decided, how runs went, how the place is used, and by whom; and what was captured of agents. */
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
  const learning = useTrainingWords();
  const admin = useAdmin();
  const [path] = useLocation();
  const runs = path.startsWith('/operate/runs');
  const usage = path === '/operate/usage';
  const people = path.startsWith('/operate/people');
  const plans = path === '/operate/plans';
  const backends = path === '/operate/backends';
  const training = path === '/operate/training';
  const palace = path.startsWith('/operate/palace');
  const captured = usePalace();
  const elsewhere = runs || usage || people || plans || backends || training || palace;
  return (
    <nav className="parts" aria-label={words.operateParts}>
      <Link href="/operate" aria-current={path === '/operate' ? 'page' : elsewhere ? undefined : 'true'}>
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
        <Link href="/operate/people" aria-current={path === '/operate/people' ? 'page' : people ? 'true' : undefined}>
          {words.people}
        </Link>
      )}
      {admin && (
        <Link href="/operate/plans" aria-current={plans ? 'page' : undefined}>
          {words.plans}
        </Link>
      )}
      {admin && (
        <Link href="/operate/backends" aria-current={backends ? 'page' : undefined}>
          {words.backends}
        </Link>
      )}
      {admin && (
        <Link href="/operate/training" aria-current={training ? 'page' : undefined}>
          {learning.trainings}
        </Link>
      )}
      {(captured || palace) && (
        <Link href="/operate/palace" aria-current={path === '/operate/palace' ? 'page' : palace ? 'true' : undefined}>
          Palace
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
  const [isPeople] = useRoute('/operate/people');
  const [isPerson, person] = useRoute('/operate/people/:id');
  const [isPlans] = useRoute('/operate/plans');
  const [isBackends] = useRoute('/operate/backends');
  const [isTraining] = useRoute('/operate/training');
  const [isPalace] = useRoute('/operate/palace/*?');
  if (isPatch) return <PatchPage key={patch.id} id={patch.id} />;
  if (isRun) return <RunPage key={run.id} id={run.id} />;
  if (isUsage) return <UsagePage />;
  if (isPeople) return <PeoplePage />;
  if (isPerson) return <PersonPage key={person.id} id={person.id} />;
  if (isPlans) return <PlansPage />;
  if (isBackends) return <BackendsPage />;
  if (isTraining) return <TrainingPage />;
  if (isPalace) return <PalacePage />;
  return isRuns ? <Runs /> : <Decisions />;
}
