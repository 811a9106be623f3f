import { useMemo, useState } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import { restore, useArtifact, useVersions, type Artifact, type Version } from '../api/artifacts.ts';
import { unsettled, usePatches } from '../api/changes.ts';
import { Failure } from '../api/failure.ts';
import { session } from '../api/session.ts';
import { Json } from '../code/Json.tsx';
import { sentence } from '../i18n/errors.ts';
import { language, useWords } from '../i18n/index.ts';
import { useTold } from '../i18n/said.ts';
import { useSaid } from '../learning/remarks.ts';
import { useStore } from '../lib/store.ts';
import { when } from '../operate/figures.ts';
import { ActDialog, Ago, Card, Loading, Trouble } from '../operate/parts.tsx';
import { drawable } from '../picture/read.ts';
import { Picture } from '../picture/Picture.tsx';
import { CopyButton } from '../shell/CopyButton.tsx';
import { ShareCard, SharedFrom } from '../sharing/ShareCard.tsx';
import { Badge, TypeBadge } from '../ui/Badge.tsx';
import { Compare } from './Compare.tsx';
import { mayPropose, mayWrite } from './rights.ts';

/** One artifact: what it says, and how it came to say it (UI-13). */
export function ArtifactPage({ id }: { id: string }) {
  const words = useWords();
  const { data: artifact, error, isError, refetch } = useArtifact(id);
  if (isError && !artifact) {
    const missing = error instanceof Failure && (error.status === 404 || error.status === 400);
    return <Trouble text={missing ? words.artifactNotFound : sentence(error)} {...(missing ? {} : { retry: () => void refetch() })} back="/artifacts" backText={words.artifactBack} />;
  }
  if (!artifact) return <Loading />;
  return <Shown artifact={artifact} />;
}

function Shown({ artifact }: { artifact: Artifact }) {
  const words = useWords();
  const { user } = useStore(session);
  const told = useTold();
  const versions = useVersions(artifact.id);
  const chosen = new URLSearchParams(useSearch());
  const base = Number(chosen.get('base') ?? 0);
  const graph = drawable(artifact.schema);
  return (
    <>
      <header className="page-head">
        <div>
          <h1>
            {artifact.name} <small>{words.versionName(artifact.version)}</small>
          </h1>
          <p className="lead">
            <TypeBadge type={artifact.type} /> <Badge kind={artifact.visibility} /> {artifact.status === 'draft' && <Badge kind="draft" />} <span>{told(artifact.description)}</span>
          </p>
        </div>
        {mayPropose(artifact, user) && (
          <Link href={`/artifacts/${artifact.id}/edit`} className="button">
            {words.proposeChange}
          </Link>
        )}
      </header>
      {artifact.status === 'draft' && <p className="announce">{words.artifactDraft}</p>}
      <OnTrial artifact={artifact} />
      <div className="sides">
        <div className="stack">
          {base > 0 && versions.data && <Compare artifact={artifact} versions={versions.data} from={base} to={Number(chosen.get('to') ?? 0) || artifact.version} />}
          {graph && (
            <Card title={words.artifactPicture}>
              <Picture doc={artifact.schema} />
            </Card>
          )}
          <Card title={words.artifactSchema}>
            <Json value={artifact.schema} />
          </Card>
        </div>
        <div className="stack">
          <Facts artifact={artifact} />
          {artifact.owner_id !== null && artifact.owner_id !== user?.id && <SharedFrom thing={{ artifact_id: artifact.id }} />}
          {artifact.owner_id !== null && artifact.owner_id === user?.id && !artifact.type.startsWith('adapter.') && !artifact.type.startsWith('memory.') && (
            <ShareCard thing={{ artifact_id: artifact.id }} />
          )}
          <Versions artifact={artifact} list={versions.data ?? []} base={base} />
          <Proposals id={artifact.id} />
        </div>
      </div>
    </>
  );
}

/** Says plainly that not everybody has the current version. */
function OnTrial({ artifact }: { artifact: Artifact }) {
  const words = useWords();
  if (!artifact.rollout) return null;
  const { share, from, patch } = artifact.rollout;
  return (
    <p className="announce">
      {words.rolloutWords(artifact.version, share, from)} <Link href={`/operate/patches/${patch}`}>{words.rolloutPatch}</Link>
    </p>
  );
}

function Facts({ artifact }: { artifact: Artifact }) {
  const words = useWords();
  const locale = useStore(language);
  const { user } = useStore(session);
  const owner = artifact.owner_id === null ? words.ownerHouse : artifact.owner_id === user?.id ? words.ownerYou : artifact.owner_id;
  return (
    <Card title={words.facts}>
      <dl className="facts">
        <dt>{words.factID}</dt>
        <dd>
          <code>{artifact.id}</code> <CopyButton text={artifact.id} label={words.copyID} />
        </dd>
        <dt>{words.columnType}</dt>
        <dd>{artifact.type}</dd>
        <dt>{words.factOwner}</dt>
        <dd>{owner}</dd>
        <dt>{words.factVersion}</dt>
        <dd>{artifact.version}</dd>
        <dt>{words.factCreated}</dt>
        <dd>{when(artifact.created_at, locale)}</dd>
        <dt>{words.factUpdated}</dt>
        <dd>{when(artifact.updated_at, locale)}</dd>
      </dl>
    </Card>
  );
}

const few = 8; // versions shown before the others are asked for

/** Every version a dot: who made it, when and why. */
function Versions({ artifact, list, base }: { artifact: Artifact; list: Version[]; base: number }) {
  const words = useWords();
  const [all, setAll] = useState(false);
  const [back, setBack] = useState<Version | null>(null);
  const { user } = useStore(session);
  const writes = mayWrite(artifact, user);
  const said = useSaid();
  const told = useTold();
  // What a proposal says of itself may be in parts, which the note has but the beginning of.
  const noteOf = ({ change_note: note, said: parts, why }: Version) =>
    told(note, parts && why.length > 0 ? { ...parts, values: [parts.values[0] ?? '', said(why, parts.values[1])] } : parts);
  const shown = all ? list : list.slice(0, few);
  return (
    <Card title={words.versions}>
      <ol className="version-rail">
        {shown.map((version) => (
          <li key={version.version} data-now={version.version === artifact.version || undefined} data-base={version.version === base || undefined}>
            <p>
              <b>{words.versionName(version.version)}</b> {version.version === artifact.version && <small className="now">{words.versionNow}</small>}
              <small>
                {words.versionBy(version.created_by)}, <Ago time={version.created_at} />
              </small>
            </p>
            {version.change_note && <p className="note">{noteOf(version)}</p>}
            {version.version !== artifact.version && (
              <p className="deeds">
                <Link href={`/artifacts/${artifact.id}?base=${version.version}`} aria-label={words.versionCompareWith(version.version)} aria-current={version.version === base ? 'true' : undefined}>
                  {words.versionCompare}
                </Link>
                {writes && (
                  <button type="button" className="link" aria-label={words.versionRestoreThis(version.version)} onClick={() => setBack(version)}>
                    {words.versionRestore}
                  </button>
                )}
              </p>
            )}
          </li>
        ))}
      </ol>
      {list.length > shown.length && (
        <button type="button" className="quiet" onClick={() => setAll(true)}>
          {words.versionsMore(list.length - shown.length)}
        </button>
      )}
      {back && <Restore artifact={artifact} version={back.version} onClose={() => setBack(null)} />}
    </Card>
  );
}

function Restore({ artifact, version, onClose }: { artifact: Artifact; version: number; onClose(): void }) {
  const words = useWords();
  const [, go] = useLocation();
  return (
    <ActDialog
      title={words.versionRestoreThis(version)}
      act={words.versionRestore}
      onClose={onClose}
      onAct={async (form) => {
        await restore(artifact.id, version, String(form.get('reason')));
        onClose();
        go(`/artifacts/${artifact.id}`);
      }}
    >
      <p>{words.restoreAsk(version, artifact.version + 1)}</p>
      <label className="field">
        <span>{words.whyChange}</span>
        <textarea name="reason" required maxLength={500} rows={3} />
      </label>
    </ActDialog>
  );
}

function Proposals({ id }: { id: string }) {
  const words = useWords();
  const patches = usePatches('', id);
  const said = useSaid();
  const open = useMemo(() => (patches.data ?? []).filter(unsettled), [patches.data]);
  if (patches.isError) return null;
  return (
    <Card title={words.artifactProposals}>
      {open.length === 0 && <p className="hint">{words.noProposals}</p>}
      <ul className="proposals">
        {open.map((patch) => (
          <li key={patch.id}>
            <Link href={`/operate/patches/${patch.id}`}>#{patch.id}</Link> <small>{words.statusOfPatch(patch.status, patch.stage)}</small>
            <p className="note">{said(patch.why, patch.justification)}</p>
          </li>
        ))}
      </ul>
    </Card>
  );
}
