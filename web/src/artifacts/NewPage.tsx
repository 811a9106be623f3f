import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { create, propose, tryOut, type Tried, type Visibility } from '../api/artifacts.ts';
import { session } from '../api/session.ts';
import { print } from '../code/print.ts';
import { readJSON } from '../code/problem.ts';
import { useWords } from '../i18n/index.ts';
import { useStore } from '../lib/store.ts';
import { Card } from '../operate/parts.tsx';
import { Acts } from './Acts.tsx';
import { kinds, templateOf, type NewKind } from './templates.ts';
import { readEdit, writeEdit, type Edit } from './edits.ts';
import { useKept } from './EditPage.tsx';
import { proposes } from './rights.ts';
import { Workbench, type Draft } from './Workbench.tsx';

const key = '_new'; // of the words kept until there is an artifact

/** Where a new artifact is written: one's own at once, or everybody's by a proposal. */
export function NewPage() {
  const [round, setRound] = useState(0);
  return <Bench key={round} again={() => setRound(round + 1)} />;
}

interface Head {
  type: NewKind;
  name: string;
  description: string;
  visibility: Visibility;
}

function headOf(kept: Edit | null): Head {
  const type = kinds.find((one) => one === kept?.head?.type) ?? 'workflow.chat';
  return { type, name: kept?.head?.name ?? '', description: kept?.head?.description ?? '', visibility: kept?.head?.visibility === 'global' ? 'global' : 'private' };
}

function Bench({ again }: { again(): void }) {
  const words = useWords();
  const [, go] = useLocation();
  const { user } = useStore(session);
  const [kept] = useState(() => readEdit(user!.id, key));
  const [head, setHead] = useState(() => headOf(kept));
  const [draft, setDraft] = useState<Draft>(() => draftOf(kept?.text ?? print(templateOf(head.type, head.name))));
  const [initial, setInitial] = useState(draft.text); // of the bench on show
  const [why, setWhy] = useState(kept?.why ?? '');
  const [tried, setTried] = useState<{ report: Tried; text: string } | null>(null);
  const begun = head.name !== '' || head.description !== '' || why !== '' || draft.text !== print(templateOf(head.type, ''));
  useKept(user!.id, key, begun ? { text: draft.text, base: 0, why, head } : null);

  const choose = (type: NewKind) => {
    const text = print(templateOf(type, head.name));
    setHead({ ...head, type });
    setDraft(draftOf(text));
    setInitial(text);
    setTried(null);
  };
  // What is no object is for the server to refuse, with its reason.
  const made = { ...head, name: head.name.trim(), description: head.description.trim(), schema: draft.doc as Record<string, unknown> };
  const leave = (address: string) => {
    writeEdit(user!.id, key, null);
    go(address);
  };
  return (
    <>
      <header className="page-head">
        <div>
          <h1>{words.newTitle}</h1>
          <p className="lead">
            {proposes(user) && words.newDraftNote} <Link href="/artifacts">{words.artifactBack}</Link>
          </p>
        </div>
      </header>
      {kept && <p className="announce">{words.editorDraft}</p>}
      <HeadFields head={head} onChange={setHead} onType={choose} />
      <Workbench key={head.type} type={head.type} before={undefined} initial={initial} tried={tried} onChange={setDraft}>
        <Acts
          why={why}
          onWhy={setWhy}
          ready={draft.doc !== undefined && made.name !== ''}
          note=""
          onTry={proposes(user) ? async () => setTried({ report: await tryOut({ changes: [{ create: made }] }, why.trim() || words.actRehearse), text: draft.text }) : undefined}
          onPropose={proposes(user) ? async () => leave(`/operate/patches/${(await propose({ changes: [{ create: made }] }, why.trim())).id}`) : undefined}
          onSave={{ name: words.actCreate, ask: words.saveAsk, do: async () => leave(`/artifacts/${(await create(made, why.trim())).id}`) }}
          onReset={() => {
            writeEdit(user!.id, key, null);
            again();
          }}
        />
      </Workbench>
    </>
  );
}

function draftOf(text: string): Draft {
  return { text, doc: readJSON(text).value };
}

function HeadFields({ head, onChange, onType }: { head: Head; onChange(head: Head): void; onType(type: NewKind): void }) {
  const words = useWords();
  const { user } = useStore(session);
  return (
    <Card title={words.facts}>
      <div className="new-facts">
        <label className="field">
          <span>{words.columnType}</span>
          <select value={head.type} onChange={(event) => onType(event.target.value as NewKind)}>
            {kinds.map((one) => (
              <option key={one} value={one}>
                {one}
              </option>
            ))}
          </select>
        </label>
        <label className="field">
          <span>{words.newName}</span>
          <input value={head.name} maxLength={128} spellCheck={false} autoComplete="off" title={words.newNameHint} onChange={(event) => onChange({ ...head, name: event.target.value })} />
        </label>
        <label className="field">
          <span>{words.columnVisibility}</span>
          <select value={head.visibility} onChange={(event) => onChange({ ...head, visibility: event.target.value as Visibility })}>
            <option value="private">{words.badge('private')}</option>
            {proposes(user) && <option value="global">{words.badge('global')}</option>}
          </select>
        </label>
        <label className="field wide">
          <span>{words.newDescription}</span>
          <input value={head.description} maxLength={1_000} onChange={(event) => onChange({ ...head, description: event.target.value })} />
        </label>
      </div>
    </Card>
  );
}
