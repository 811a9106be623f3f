import { Link, useLocation, useSearch } from 'wouter';
import { useQuery } from '@tanstack/react-query';
import { ask } from '../api/ask.ts';
import { isOver, useRuns, type OperatedRun, type RunFilter } from '../api/runs.ts';
import type { Dictionary } from '../i18n/en.ts';
import { language, useWords } from '../i18n/index.ts';
import { useTold } from '../i18n/said.ts';
import { duration } from '../lib/format.ts';
import { useStore } from '../lib/store.ts';
import { when } from './figures.ts';
import { Chooser, Listing } from './Listing.tsx';
import { Pills, useAdmin } from './parts.tsx';

const kinds = ['chat', 'graph', 'ingest', 'tool', 'patch', 'architect', 'cluster', 'train', 'palace'] as const;
const statuses = ['queued', 'running', 'waiting', 'done', 'failed', 'cancelled'] as const;

/** Runs, latest first: one's own, or for an administrator everybody's. */
export function Runs() {
  const words = useWords();
  const admin = useAdmin();
  const [filter, narrow] = useFilter(admin);
  const runs = useRuns(filter);
  const all = runs.data?.pages.flatMap((page) => page.data) ?? [];
  return (
    <Listing title={words.runs} filters={<Filters filter={filter} narrow={narrow} admin={admin} />} pages={runs} nothing={words.noRuns} more={words.showMore}>
      {all.length > 0 ? <Table runs={all} whose={filter.all} /> : null}
    </Listing>
  );
}

type Narrow = (change: Partial<RunFilter>) => void;

/** The filter stands in the address, so that a list can be shown to somebody else. */
function useFilter(admin: boolean): [RunFilter, Narrow] {
  const [, go] = useLocation();
  const given = new URLSearchParams(useSearch());
  const known = <T extends string>(name: string, list: readonly T[]): T | '' => list.find((one) => one === given.get(name)) ?? '';
  const filter: RunFilter = {
    kind: known('kind', kinds),
    status: known('status', statuses),
    artifact_id: given.get('artifact') ?? '',
    all: admin && given.get('all') === 'true',
  };
  function narrow(change: Partial<RunFilter>) {
    const next = { ...filter, ...change };
    const address = new URLSearchParams();
    if (next.kind) address.set('kind', next.kind);
    if (next.status) address.set('status', next.status);
    if (next.artifact_id) address.set('artifact', next.artifact_id);
    if (next.all) address.set('all', 'true');
    const text = address.toString();
    go(text ? `/operate/runs?${text}` : '/operate/runs', { replace: true });
  }
  return [filter, narrow];
}

function Filters({ filter, narrow, admin }: { filter: RunFilter; narrow: Narrow; admin: boolean }) {
  const words = useWords();
  return (
    <div className="filters">
      <Chooser label={words.kindLabel} any={words.anyKind} value={filter.kind} onChoose={(kind) => narrow({ kind })} options={kinds.map((kind) => [kind, words.runKind(kind)])} />
      <Chooser label={words.patchStatus} any={words.anyKind} value={filter.status} onChoose={(status) => narrow({ status })} options={statuses.map((status) => [status, words.runStatus(status)])} />
      <ArtifactChooser value={filter.artifact_id} onChoose={(artifact_id) => narrow({ artifact_id })} />
      {admin && (
        <Pills
          label={words.whoseRuns}
          options={[
            ['mine', words.myRuns],
            ['all', words.allRuns],
          ]}
          value={filter.all ? 'all' : 'mine'}
          onChoose={(whose) => narrow({ all: whose === 'all' })}
        />
      )}
    </div>
  );
}

/** Workflows are what runs follow. */
function ArtifactChooser({ value, onChoose }: { value: string; onChoose(value: string): void }) {
  const words = useWords();
  const workflows = useQuery({
    queryKey: ['runs', 'workflows'],
    queryFn: async ({ signal }) => (await ask('listArtifacts', { query: { type: 'workflow.chat', limit: 100 }, signal })).data,
    staleTime: 60_000,
  });
  const options = (workflows.data ?? []).map((one): [string, string] => [one.id, one.name]);
  if (value && !options.some(([id]) => id === value)) options.push([value, value.slice(0, 8)]);
  return <Chooser label={words.artifactLabel} any={words.anyKind} value={value} options={options} onChoose={onChoose} />;
}

/** How long a run took, or has been taking. */
export function tookOf(run: OperatedRun): number | null {
  if (!run.ended_at) return null;
  const ms = Date.parse(run.ended_at) - Date.parse(run.started_at ?? run.created_at);
  return Number.isFinite(ms) && ms >= 0 ? ms : null;
}

export function dotOf(run: OperatedRun): string {
  if (run.status === 'waiting') return 'wait';
  if (run.status === 'failed') return 'bad';
  return isOver(run) ? 'settled' : 'live';
}

/** What a run follows, or what it is for. */
function nameOf(run: OperatedRun, words: Dictionary): string {
  return run.artifact ? `${run.artifact.name} v${run.artifact.version}` : words.runKind(run.kind);
}

function Table({ runs, whose }: { runs: OperatedRun[]; whose: boolean }) {
  const words = useWords();
  const locale = useStore(language);
  const told = useTold();
  return (
    <ul className="rows runs" aria-label={words.runs}>
      {runs.map((run) => {
        const took = tookOf(run);
        return (
          <li key={run.id} data-state={dotOf(run)}>
            <span className="dot" aria-hidden="true" />
            <div className="row-main">
              <p className="row-title">
                <Link href={`/operate/runs/${run.id}`}>{run.asked || nameOf(run, words)}</Link>
                <small>
                  {run.asked && run.artifact && `${nameOf(run, words)} · `}
                  {words.runKind(run.kind)} {run.patch_id && `#${run.patch_id}`}
                </small>
              </p>
              {run.waits_for && <p className="row-why">{words.waitsFor(told(run.waits_for))}</p>}
              {run.error && <p className="row-why">{told(run.error.message, run.error.said)}</p>}
            </div>
            <p className="row-facts">
              <span className="row-status">{words.runStatus(run.status)}</span>
              <span>
                {whose && run.user && `${run.user.name} · `}
                {took !== null && `${duration(took, locale)} · `}
                <time dateTime={run.created_at}>{when(run.created_at, locale)}</time>
              </span>
            </p>
          </li>
        );
      })}
    </ul>
  );
}
