import { useDeferredValue, useState } from 'react';
import { useLocation } from 'wouter';
import { useAttempt } from '../account/useAttempt.ts';
import { changeSet, deleteSet, useOneSet, useTitles, type OneDocumentSet } from '../api/contexts.ts';
import { Failure } from '../api/failure.ts';
import { sentence } from '../chat/talk.ts';
import { useWords } from '../i18n/index.ts';
import { ActDialog, Card, Loading, Trouble } from '../operate/parts.tsx';
import { Icon } from '../shell/Icon.tsx';
import { Retitle } from './parts.tsx';

const most = 200; // documents in a set; the server's bound

/** One set: its documents in their order, and what may be added. */
export function SetDetail({ id }: { id: string }) {
  const words = useWords();
  const { data: set, error, isError, refetch } = useOneSet(id);
  if (isError && !set) {
    const missing = error instanceof Failure && (error.status === 404 || error.status === 400);
    return <Trouble text={missing ? words.setMissing : sentence(error)} {...(missing ? {} : { retry: () => void refetch() })} back="/contexts/sets" backText={words.setBack} />;
  }
  return set ? <Shown set={set} /> : <Loading />;
}

function Shown({ set }: { set: OneDocumentSet }) {
  const words = useWords();
  const attempt = useAttempt();
  const full = set.document_ids.length >= most;
  const put = (ids: string[]) => void attempt.go(() => changeSet(set.id, { document_ids: ids }));
  return (
    <div className="stack">
      <Head set={set} />
      {attempt.problem && (
        <p role="alert" className="problem">
          {attempt.problem}
        </p>
      )}
      <Card title={words.contextDocuments} note={set.documents.length > 0 ? set.documents.length : undefined}>
        {set.documents.length === 0 && <p className="nothing">{words.setEmpty}</p>}
        <ul className="document-list" aria-label={words.contextDocuments}>
          {set.documents.map((one) => (
            <li key={one.id} data-status={one.status}>
              <span className="dot" aria-hidden="true" />
              <div>
                <p className="name">{one.title || one.path}</p>
                <p className="facts-line monospace">{one.path}</p>
              </div>
              <button
                type="button"
                className="icon-button"
                disabled={attempt.busy}
                aria-label={words.setTakeOut(one.title || one.path)}
                onClick={() => put(set.document_ids.filter((other) => other !== one.id))}
              >
                <Icon name="close" />
              </button>
            </li>
          ))}
        </ul>
      </Card>
      {full ? <p className="hint">{words.setFull}</p> : <Add busy={attempt.busy} has={set.document_ids} onAdd={(id) => put([...set.document_ids, id])} />}
    </div>
  );
}

function Head({ set }: { set: OneDocumentSet }) {
  const words = useWords();
  const [, go] = useLocation();
  const [open, setOpen] = useState<'rename' | 'delete' | null>(null);
  const close = () => setOpen(null);
  return (
    <header className="detail-head">
      {open === 'rename' ? <Retitle value={set.title} label={words.setTitle} onSave={(title) => changeSet(set.id, { title })} onClose={close} /> : <h2>{set.title}</h2>}
      <div className="flex-row">
        {open !== 'rename' && (
          <button type="button" onClick={() => setOpen('rename')}>
            {words.rename}
          </button>
        )}
        <button type="button" className="danger" onClick={() => setOpen('delete')}>
          {words.setDelete}
        </button>
      </div>
      {open === 'delete' && (
        <ActDialog
          title={words.setDelete}
          act={words.setDelete}
          danger
          onClose={close}
          onAct={async () => {
            await deleteSet(set.id);
            go('/contexts/sets', { replace: true });
          }}
        >
          <p>{words.setDeleteAsk(set.title)}</p>
        </ActDialog>
      )}
    </header>
  );
}

/** A person's documents of all contexts, found by words of their titles. */
function Add({ has, busy, onAdd }: { has: string[]; busy: boolean; onAdd(id: string): void }) {
  const words = useWords();
  const [typed, setTyped] = useState('');
  const found = useTitles(useDeferredValue(typed.trim()));
  const others = (found.data ?? []).filter((one) => !has.includes(one.id));
  return (
    <Card title={words.contextAddTitle}>
      <input type="search" value={typed} aria-label={words.setAdd} placeholder={words.setAdd} onChange={(event) => setTyped(event.target.value)} />
      {found.isError && (
        <p role="alert" className="problem">
          {sentence(found.error)}
        </p>
      )}
      {found.data && others.length === 0 && <p className="hint">{words.setNothingFound}</p>}
      <ul className="document-list">
        {others.map((one) => (
          <li key={one.id} data-status={one.status}>
            <span className="dot" aria-hidden="true" />
            <div>
              <p className="name">{one.title || one.path}</p>
              <p className="facts-line monospace">{one.path}</p>
            </div>
            <button type="button" className="icon-button" disabled={busy} aria-label={words.setAddThis(one.title || one.path)} onClick={() => onAdd(one.id)}>
              <Icon name="plus" />
            </button>
          </li>
        ))}
      </ul>
    </Card>
  );
}
