import { useState, type FormEvent } from 'react';
import { call } from '../api/call.ts';
import { keys, queryClient, useContexts, useDocuments, useUIConfig } from '../api/queries.ts';
import type { Document } from '../api/types.ts';
import { sentence } from '../chat/talk.ts';
import { language, useWords } from '../i18n/index.ts';
import type { Dictionary } from '../i18n/en.ts';
import { fileSize, kindsOfFile } from '../lib/format.ts';
import { useStore } from '../lib/store.ts';
import { Sheet } from '../panel/Panel.tsx';
import { Confirm } from '../shell/Confirm.tsx';
import { Icon } from '../shell/Icon.tsx';
import { PickFiles } from './Attach.tsx';
import { createContext } from './choice.ts';
import { UploadTray } from './UploadTray.tsx';
import { addFiles } from './uploads.ts';

/** A person's documents: what is there, where it stands, and the way in and out. */
export function DocumentsPanel() {
  const words = useWords();
  const locale = useStore(language);
  const config = useUIConfig();
  const contexts = useContexts();
  const [picked, setPicked] = useState('');
  const all = contexts.data ?? [];
  const current = all.find((one) => one.id === picked) ?? all[0] ?? null;
  const limits = config.data?.upload;
  return (
    <Sheet title={words.documents}>
      <div className="documents">
        {all.length > 0 && (
          <label className="choice">
            <span>{words.collection}</span>
            <select value={current?.id ?? ''} onChange={(event) => setPicked(event.target.value)}>
              {all.map((one) => (
                <option key={one.id} value={one.id}>
                  {one.name}
                </option>
              ))}
            </select>
          </label>
        )}
        <div className="flex-row">
          <PickFiles label={words.upload} onFiles={(files) => void addFiles(files, current?.id ?? '')} />
          <NewContext onMade={setPicked} />
        </div>
        {limits && (
          <p className="hint" title={limits.extensions.join(' ')}>
            {words.limits(fileSize(limits.max_bytes, locale), kindsOfFile(limits.extensions, words.andMore))}
          </p>
        )}
        <UploadTray inPanel />
        <List context={current?.id ?? null} />
      </div>
    </Sheet>
  );
}

function NewContext({ onMade }: { onMade(id: string): void }) {
  const words = useWords();
  const [open, setOpen] = useState(false);
  const [problem, setProblem] = useState('');

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const name = String(new FormData(event.currentTarget).get('name')).trim();
    if (name === '') return;
    try {
      onMade((await createContext(name)).id);
      setOpen(false);
      setProblem('');
    } catch (error) {
      setProblem(sentence(error));
    }
  }

  if (!open) {
    return (
      <button type="button" className="text-button" onClick={() => setOpen(true)}>
        {words.newContext}
      </button>
    );
  }
  return (
    <form
      className="inline-form"
      onSubmit={(event) => void submit(event)}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.preventDefault(); // closes this, not the sheet
        setOpen(false);
      }}
    >
      <input name="name" aria-label={words.newContextName} placeholder={words.newContextName} maxLength={120} required autoFocus />
      <button type="submit">{words.create}</button>
      {problem && (
        <p role="alert" className="problem">
          {problem}
        </p>
      )}
    </form>
  );
}

function List({ context }: { context: string | null }) {
  const words = useWords();
  const documents = useDocuments(context);
  if (documents.isError) return <p role="alert">{sentence(documents.error)}</p>;
  if (context !== null && documents.isPending) return <p className="hint">…</p>;
  const rows = documents.data ?? [];
  if (rows.length === 0) return <p className="nothing">{words.noDocuments}</p>;
  return (
    <ul className="document-list">
      {rows.map((row) => (
        <Row key={row.id} document={row} />
      ))}
    </ul>
  );
}

function Row({ document }: { document: Document }) {
  const words = useWords();
  const locale = useStore(language);
  const [asking, setAsking] = useState(false);
  const [problem, setProblem] = useState('');
  const title = document.title || document.path;

  async function remove() {
    setAsking(false);
    try {
      await call(`/v1/documents/${document.id}`, { method: 'DELETE' });
    } catch (error) {
      setProblem(sentence(error));
    }
    void queryClient.invalidateQueries({ queryKey: keys.documents(document.context_id) });
    void queryClient.invalidateQueries({ queryKey: keys.contexts });
  }

  return (
    <li data-status={document.status}>
      <span className="dot" aria-hidden="true" />
      <div>
        <p className="name">{title}</p>
        <p className="facts">{[stateOf(document, words), fileSize(document.size, locale)].join(' · ')}</p>
        {(document.status === 'failed' || problem) && <p className="problem">{problem || document.error || words.failedDocument}</p>}
      </div>
      <button type="button" className="icon-button" aria-label={words.removeThis(title)} title={words.remove} onClick={() => setAsking(true)}>
        <Icon name="close" />
      </button>
      {asking && <Confirm text={words.removeDocument(title)} act={words.remove} onAct={() => void remove()} onCancel={() => setAsking(false)} />}
    </li>
  );
}

function stateOf(document: Document, words: Dictionary): string {
  switch (document.status) {
    case 'waiting':
      return words.waiting;
    case 'reading':
      return document.chunks ? words.readingOf(document.chunks_done ?? 0, document.chunks) : words.reading;
    case 'failed':
      return words.failed;
    case 'skipped':
      return words.skippedDocument;
    default:
      return [document.pages ? words.pages(document.pages) : '', words.passages(document.chunks ?? 0)].filter(Boolean).join(' · ');
  }
}
