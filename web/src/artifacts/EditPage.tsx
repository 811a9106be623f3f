import { useEffect, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { propose, saveVersion, tryOut, useArtifact, useVersions, type Artifact, type Tried, type Version } from '../api/artifacts.ts';
import { Failure } from '../api/failure.ts';
import { session } from '../api/session.ts';
import { patchBetween } from '../code/patch.ts';
import { print } from '../code/print.ts';
import { readJSON } from '../code/problem.ts';
import { sentence } from '../i18n/errors.ts';
import { useWords } from '../i18n/index.ts';
import { useStore } from '../lib/store.ts';
import { Loading, Trouble } from '../operate/parts.tsx';
import { Badge, TypeBadge } from '../ui/Badge.tsx';
import { Acts } from './Acts.tsx';
import { readEdit, writeEdit, type Edit } from './edits.ts';
import { mayPropose, mayWrite } from './rights.ts';
import { Workbench, type Draft } from './Workbench.tsx';

/** Where a change of an artifact is written, looked at, rehearsed and proposed. */
export function EditPage({ id }: { id: string }) {
  const words = useWords();
  const { user } = useStore(session);
  const artifact = useArtifact(id);
  const versions = useVersions(id);
  const [round, setRound] = useState(0); // starting over is another bench
  const error = artifact.error ?? versions.error;
  // What is on the bench stays there when only its renewal failed.
  if (error && !(artifact.data && versions.data)) {
    const missing = error instanceof Failure && (error.status === 404 || error.status === 400);
    return <Trouble text={missing ? words.artifactNotFound : sentence(error)} back="/artifacts" backText={words.artifactBack} />;
  }
  if (!artifact.data || !versions.data) return <Loading />;
  if (!mayPropose(artifact.data, user) && !mayWrite(artifact.data, user)) {
    return <Trouble text={words.notAllowed} back={`/artifacts/${id}`} backText={words.editBack} />;
  }
  return <Bench key={round} artifact={artifact.data} versions={versions.data} user={user!.id} again={() => setRound(round + 1)} />;
}

interface BenchProps {
  artifact: Artifact;
  versions: Version[];
  user: string;
  again(): void;
}

function Bench({ artifact, versions, user, again }: BenchProps) {
  const words = useWords();
  const [, go] = useLocation();
  const { user: me } = useStore(session);
  const [kept] = useState(() => readEdit(user, artifact.id));
  const [base] = useState(kept?.base ?? artifact.version);
  const [before] = useState(() => versions.find((one) => one.version === base)?.schema ?? artifact.schema);
  const [initial] = useState(() => kept?.text ?? print(before));
  const [draft, setDraft] = useState<Draft>(() => ({ text: initial, doc: readJSON(initial).value }));
  const [why, setWhy] = useState(kept?.why ?? '');
  const [tried, setTried] = useState<{ report: Tried; text: string } | null>(null);
  const patch = draft.doc === undefined ? [] : patchBetween(before, draft.doc);
  const edit: Edit | null = draft.text === print(before) && why === '' ? null : { text: draft.text, base, why };
  useKept(user, artifact.id, edit);

  const proposed = { artifact_id: artifact.id, patch, base_version: base };
  const done = (address: string) => {
    writeEdit(user, artifact.id, null);
    go(address);
  };
  return (
    <>
      <header className="page-head">
        <div>
          <h1>
            {words.editTitle(artifact.name)} <small>{words.versionName(base)}</small>
          </h1>
          <p className="lead">
            <TypeBadge type={artifact.type} /> <Badge kind={artifact.visibility} /> <Link href={`/artifacts/${artifact.id}`}>{words.editBack}</Link>
          </p>
        </div>
      </header>
      {kept && <p className="announce">{words.editorDraft}</p>}
      {artifact.version > base && (
        <p className="announce">
          {words.editorMoved(base, artifact.version)} <Link href={`/artifacts/${artifact.id}?base=${base}`}>{words.editorMovedSee}</Link>
        </p>
      )}
      <Workbench type={artifact.type} before={before} initial={initial} tried={tried} onChange={setDraft}>
        <Acts
          why={why}
          onWhy={setWhy}
          ready={patch.length > 0}
          note={patch.length > 0 ? words.editorChanges(patch.length) : words.editorNoChange}
          onTry={async () => setTried({ report: await tryOut(proposed, why.trim() || words.actRehearse), text: draft.text })}
          onPropose={mayPropose(artifact, me) ? async () => done(`/operate/patches/${(await propose(proposed, why.trim())).id}`) : undefined}
          onSave={
            mayWrite(artifact, me)
              ? {
                  name: words.actSave,
                  ask: words.saveAsk,
                  do: async () => {
                    await saveVersion(artifact.id, patch, base, why.trim());
                    done(`/artifacts/${artifact.id}`);
                  },
                }
              : undefined
          }
          onReset={() => {
            writeEdit(user, artifact.id, null);
            again();
          }}
        />
      </Workbench>
    </>
  );
}

const soon = 400; // ms after the last letter

/** Keeps what is written, a moment after each change of it. */
export function useKept(user: string, id: string, edit: Edit | null): void {
  const text = JSON.stringify(edit);
  useEffect(() => {
    const timer = setTimeout(() => writeEdit(user, id, JSON.parse(text) as Edit | null), soon);
    return () => clearTimeout(timer);
  }, [user, id, text]);
}
