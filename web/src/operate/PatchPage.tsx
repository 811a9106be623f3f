import { useEffect, useState } from 'react';
import { Link } from 'wouter';
import { usePatch, type Patch } from '../api/changes.ts';
import { Failure } from '../api/failure.ts';
import type { Dictionary } from '../i18n/en.ts';
import { useWords } from '../i18n/index.ts';
import { useSaid } from '../learning/remarks.ts';
import { Badge, TypeBadge } from '../ui/Badge.tsx';
import { Changes, Versions, type Place } from './Changes.tsx';
import { Checks } from './Checks.tsx';
import { History } from './History.tsx';
import { Ago, Card, Loading, Trouble } from './parts.tsx';
import { RehearsalCard } from './RehearsalCard.tsx';
import { DecisionCard } from './DecisionCard.tsx';
import { Watching } from './Watching.tsx';

/** One proposed change: what it is, why, what it would do, and the decision about it. */
export function PatchPage({ id }: { id: string }) {
  const words = useWords();
  const patch = usePatch(id);
  const back = { back: '/operate', backText: words.backToDecisions };
  if (patch.data) return <Whole patch={patch.data} />;
  if (patch.isPending) return <Loading />;
  const gone = patch.error instanceof Failure && patch.error.status === 404;
  return <Trouble text={gone ? words.patchNotFound : words.patchLoadFailed} {...(gone ? {} : { retry: () => void patch.refetch() })} {...back} />;
}

function Whole({ patch }: { patch: Patch }) {
  const words = useWords();
  const said = useSaid();
  const [place, setPlace] = useState<Place | null>(null);
  const first = patch.changes[0];
  useEffect(() => {
    document.title = `${first?.name ?? words.patchTitle(patch.id)} #${patch.id} · Liminal`;
  }, [patch.id, first?.name, words]);
  return (
    <article className="patch">
      <header className="patch-head">
        <div>
          <Title patch={patch} />
          <Byline patch={patch} />
        </div>
        <DecisionCard key={patch.id} patch={patch} />
      </header>
      <div className="patch-body">
        <div className="main-side">
          <Changes changes={patch.changes} place={place} />
        </div>
        <div className="by-side">
          <Card title={words.why} className="why">
            <p>{said(patch.why, patch.justification)}</p>
          </Card>
          <RehearsalCard patch={patch} />
          <Checks patch={patch} onShow={(change, pointer) => setPlace((was) => ({ change, pointer, n: (was?.n ?? 0) + 1 }))} />
        </div>
        <div className="main-side">
          <Watching patch={patch} />
          <History events={patch.events ?? []} temporal={patch.temporal_url} />
        </div>
      </div>
    </article>
  );
}

function Title({ patch }: { patch: Patch }) {
  const words = useWords();
  const [first] = patch.changes;
  if (!first) return <h1>{words.patchTitle(patch.id)}</h1>;
  return (
    <h1>
      {first.name} <Versions change={first} />
      {patch.changes.length > 1 && <small> {words.andOthers(patch.changes.length - 1)}</small>}
    </h1>
  );
}

export function proposerOf(patch: Pick<Patch, 'proposed_by' | 'proposer'>, words: Pick<Dictionary, 'byItself'>): string {
  return patch.proposed_by?.name || (patch.proposer === 'system_llm' ? words.byItself : patch.proposer);
}

function Byline({ patch }: { patch: Patch }) {
  const words = useWords();
  const kinds = [...new Set(patch.changes.map((change) => change.kind || change.type))];
  return (
    <p className="byline">
      {kinds.map((kind) => (
        <TypeBadge key={kind} type={kind} />
      ))}
      {(patch.status === 'pending' || patch.status === 'approved') && patch.changes.some((change) => change.creates) && <Badge kind="draft" />}
      <span>
        #{patch.id} · {proposerOf(patch, words)} · <Ago time={patch.created_at} />
      </span>
      {patch.rebased_from ? <Link href={`/operate/patches/${patch.rebased_from}`}>{words.fromRebase(patch.rebased_from)}</Link> : null}
    </p>
  );
}
