import { useDeferredValue, useEffect, useRef, useState, type RefObject } from 'react';
import { useLocation } from 'wouter';
import { useAttempt } from '../account/useAttempt.ts';
import { changeSet, deleteSet, useOneSet, useTitles, type OneDocumentSet } from '../api/contexts.ts';
import { Failure } from '../api/failure.ts';
import { sentence } from '../i18n/errors.ts';
import { useWords } from '../i18n/index.ts';
import { ActDialog, Card, Loading, Trouble } from '../operate/parts.tsx';
import { session } from '../api/session.ts';
import { useStore } from '../lib/store.ts';
import { ShareCard, SharedFrom } from '../sharing/ShareCard.tsx';
import { Icon } from '../shell/Icon.tsx';
import { regain, Retitle, useRenaming } from './parts.tsx';

const most = 200; // documents in a set; the server's bound
const offered = 12; // documents to add; more words find fewer
const page = 100; // the most a list gives at once

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
  const { user } = useStore(session);
  const mine = set.owner_id === user?.id;
  const [, go] = useLocation();
  const full = set.document_ids.length >= most;
  const members = useRef<HTMLUListElement>(null);
  const others = useRef<HTMLUListElement>(null);
  const search = useRef<HTMLInputElement>(null);
  const next = useRef<(() => HTMLElement | null | undefined) | null>(null); // where the focus goes, as what had it goes away

  function put(ids: string[], then: () => HTMLElement | null | undefined) {
    next.current = then;
    void attempt.go(() => changeSet(set.id, { document_ids: ids }));
  }

  useEffect(() => {
    if (attempt.busy || !next.current) return;
    regain(next.current());
    next.current = null;
  }, [attempt.busy]);

  return (
    <div className="stack">
      {mine ? (
        <Head set={set} />
      ) : (
        <header className="detail-head">
          <h2>{set.title}</h2>
          <SharedFrom thing={{ document_set_id: set.id }} onLeft={() => go('/contexts/sets', { replace: true })} />
        </header>
      )}
      {attempt.problem && (
        <p role="alert" className="problem">
          {attempt.problem}
        </p>
      )}
      <Card title={words.contextDocuments} note={set.documents.length > 0 ? set.documents.length : undefined}>
        {set.documents.length === 0 && <p className="nothing">{words.setEmpty}</p>}
        <ul ref={members} className="document-list" aria-label={words.contextDocuments}>
          {set.documents.map((one, at) => (
            <li key={one.id} data-status={one.status}>
              <span className="dot" aria-hidden="true" />
              <div>
                <p className="name">{one.title || one.path}</p>
                <p className="facts-line monospace">{one.path}</p>
              </div>
              {mine && <button
                type="button"
                className="icon-button"
                disabled={attempt.busy}
                aria-label={words.setTakeOut(one.title || one.path)}
                onClick={() =>
                  put(
                    set.document_ids.filter((other) => other !== one.id),
                    () => buttonAt(members.current, at) ?? search.current,
                  )
                }
              >
                <Icon name="close" />
              </button>}
            </li>
          ))}
        </ul>
      </Card>
      {mine && <ShareCard thing={{ document_set_id: set.id }} />}
      {!mine ? null : full ? (
        <p className="hint">{words.setFull}</p>
      ) : (
        <Add
          search={search}
          list={others}
          busy={attempt.busy}
          has={set.document_ids}
          onAdd={(id, at) => put([...set.document_ids, id], () => buttonAt(others.current, at) ?? search.current ?? buttonAt(members.current, most))}
        />
      )}
    </div>
  );
}

/** The button of a row, or of the last where there are not so many. */
function buttonAt(list: HTMLElement | null, at: number): HTMLElement | undefined {
  const buttons = list?.querySelectorAll<HTMLElement>('li button') ?? [];
  return buttons[Math.min(at, buttons.length - 1)];
}

function Head({ set }: { set: OneDocumentSet }) {
  const words = useWords();
  const [, go] = useLocation();
  const { renaming, button, begin, end } = useRenaming();
  const [deleting, setDeleting] = useState(false);
  return (
    <header className="detail-head">
      {renaming ? <Retitle value={set.title} label={words.setTitle} onSave={(title) => changeSet(set.id, { title })} onClose={end} /> : <h2>{set.title}</h2>}
      <div className="flex-row">
        {!renaming && (
          <button ref={button} type="button" onClick={begin}>
            {words.rename}
          </button>
        )}
        <button type="button" className="danger" onClick={() => setDeleting(true)}>
          {words.setDelete}
        </button>
      </div>
      {deleting && (
        <ActDialog
          title={words.setDelete}
          act={words.setDelete}
          danger
          onClose={() => setDeleting(false)}
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

interface AddProps {
  search: RefObject<HTMLInputElement | null>;
  list: RefObject<HTMLUListElement | null>;
  has: string[];
  busy: boolean;
  onAdd(id: string, at: number): void;
}

/** A person's documents of all contexts, found by words of their titles. */
function Add({ search, list, has, busy, onAdd }: AddProps) {
  const words = useWords();
  const [typed, setTyped] = useState('');
  const found = useTitles(useDeferredValue(typed.trim()), Math.min(page, offered + has.length)); // those it has may be found first
  const others = (found.data?.data ?? []).filter((one) => !has.includes(one.id)).slice(0, offered);
  const none = others.length === 0 && found.isSuccess && !found.isPlaceholderData && !found.data.next_cursor;
  return (
    <Card title={words.contextAddTitle}>
      <input ref={search} type="search" value={typed} aria-label={words.setAdd} placeholder={words.setAdd} onChange={(event) => setTyped(event.target.value)} />
      {found.isError && (
        <p role="alert" className="problem">
          {sentence(found.error)}
        </p>
      )}
      {none && <p className="hint">{words.setNothingFound}</p>}
      <ul ref={list} className="document-list">
        {others.map((one, at) => (
          <li key={one.id} data-status={one.status}>
            <span className="dot" aria-hidden="true" />
            <div>
              <p className="name">{one.title || one.path}</p>
              <p className="facts-line monospace">{one.path}</p>
            </div>
            <button type="button" className="icon-button" disabled={busy} aria-label={words.setAddThis(one.title || one.path)} onClick={() => onAdd(one.id, at)}>
              <Icon name="plus" />
            </button>
          </li>
        ))}
      </ul>
    </Card>
  );
}
