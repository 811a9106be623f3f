import { useEffect, useRef, useState, type RefObject } from 'react';
import { useAttempt } from '../account/useAttempt.ts';
import { deleteDocument, renameDocument, restoreVersion, useDocumentPages, useVersions } from '../api/contexts.ts';
import { saveFile } from '../api/files.ts';
import type { Document } from '../api/types.ts';
import { sentence } from '../i18n/errors.ts';
import { language, useWords } from '../i18n/index.ts';
import type { Dictionary } from '../i18n/en.ts';
import { useTold } from '../i18n/said.ts';
import { fileSize, stamp } from '../lib/format.ts';
import { useStore } from '../lib/store.ts';
import { panel } from '../panel/state.ts';
import { Confirm } from '../shell/Confirm.tsx';
import { Icon } from '../shell/Icon.tsx';
import { Paged, regain, Retitle, useRenaming } from './parts.tsx';

/** The documents of a context, and where each of them stands. */
export function Documents({ context, mayChange }: { context: string; mayChange: boolean }) {
  const words = useWords();
  const pages = useDocumentPages(context);
  const place = useRef<HTMLDivElement>(null);
  return (
    <div ref={place} tabIndex={-1} role="group" aria-label={words.contextDocuments}>
      <Paged pages={pages} nothing={words.noDocuments}>
        {(all) => (
          <ul className="document-list">
            {all.map((one) => (
              <Row key={one.id} document={one} mayChange={mayChange} place={place} />
            ))}
          </ul>
        )}
      </Paged>
    </div>
  );
}

interface RowProps {
  document: Document;
  mayChange: boolean;
  place: RefObject<HTMLElement | null>; // where the rows are
}

function Row({ document, mayChange, place }: RowProps) {
  const words = useWords();
  const told = useTold();
  const locale = useStore(language);
  const { renaming, button, begin, end } = useRenaming();
  const [removing, setRemoving] = useState(false);
  const [versions, setVersions] = useState(false);
  const [problem, setProblem] = useState('');
  const former = document.former_versions ?? 0;
  const title = document.title || document.path;
  const row = useRef<HTMLLIElement>(null);
  const heir = useRef<HTMLElement | null>(null); // gets the focus when the row goes with it

  useEffect(() => () => regain(heir.current), []);

  async function remove() {
    const beside = row.current?.nextElementSibling ?? row.current?.previousElementSibling;
    heir.current = beside?.querySelector<HTMLElement>('[data-remove]') ?? place.current;
    setRemoving(false);
    setProblem('');
    try {
      await deleteDocument(document);
    } catch (error) {
      heir.current = null;
      setProblem(sentence(error));
    }
  }

  async function download() {
    setProblem('');
    try {
      await saveFile(document.id);
    } catch (error) {
      setProblem(sentence(error));
    }
  }

  return (
    <li ref={row} data-status={passed(document) ? 'failed' : document.status}>
      <span className="dot" aria-hidden="true" />
      <div>
        {renaming ? (
          <Retitle value={title} label={words.documentTitle} onSave={(name) => renameDocument(document, name)} onClose={end} />
        ) : (
          <p className="name">
            <button type="button" className="name-button" aria-label={words.openThis(title)} onClick={() => panel.set({ kind: 'document', document })}>
              {title}
            </button>
          </p>
        )}
        <p className="facts-line">
          <span>{stateOf(document, words)}</span>
          <span>{fileSize(document.size, locale)}</span>
          {title !== document.path && <span className="monospace">{document.path}</span>}
          {former > 0 && (
            <button type="button" className="name-button" aria-expanded={versions} aria-label={`${words.olderVersions(former)}: ${title}`} onClick={() => setVersions(!versions)}>
              {words.olderVersions(former)}
            </button>
          )}
        </p>
        {versions && former > 0 && <Versions document={document} mayChange={mayChange} />}
        {(document.status === 'failed' || passed(document) || problem) && <p className="problem">{problem || told(document.error ?? '') || words.failedDocument}</p>}
      </div>
      {!renaming && (
        <span className="row-deeds">
          <button type="button" className="icon-button" aria-label={words.downloadThis(title)} title={words.download} onClick={() => void download()}>
            <Icon name="down" />
          </button>
          {mayChange && (
            <>
              <button
                ref={button}
                type="button"
                className="icon-button"
                aria-label={words.renameThis(title)}
                title={words.rename}
                onClick={() => {
                  setProblem('');
                  begin();
                }}
              >
                <Icon name="edit" />
              </button>
              <button type="button" className="icon-button" data-remove="" aria-label={words.removeThis(title)} title={words.remove} onClick={() => setRemoving(true)}>
                <Icon name="close" />
              </button>
            </>
          )}
        </span>
      )}
      {removing && <Confirm text={words.removeDocument(title, former)} act={words.remove} onAct={() => void remove()} onCancel={() => setRemoving(false)} />}
    </li>
  );
}

/** The versions a document has replaced: to look at, to save, and to use again. */
function Versions({ document, mayChange }: { document: Document; mayChange: boolean }) {
  const words = useWords();
  const locale = useStore(language);
  const attempt = useAttempt();
  const versions = useVersions(document);
  const problem = attempt.problem || (versions.isError && sentence(versions.error));
  return (
    <>
      <ul className="versions">
        {versions.data?.map((one) => {
          const title = words.versionFrom(stamp(one.created_at, new Date(), locale));
          return (
            <li key={one.id}>
              <button type="button" className="name-button" aria-label={words.openThis(title)} onClick={() => panel.set({ kind: 'document', document: one })}>
                {title}
              </button>
              <span>{fileSize(one.size, locale)}</span>
              <button type="button" className="icon-button" aria-label={words.downloadThis(title)} title={words.download} onClick={() => void attempt.go(() => saveFile(one.id))}>
                <Icon name="down" />
              </button>
              {mayChange && (
                <button type="button" className="quiet" aria-label={`${words.versionUse}: ${title}`} disabled={attempt.busy} onClick={() => void attempt.go(() => restoreVersion(one))}>
                  {words.versionUse}
                </button>
              )}
            </li>
          );
        })}
      </ul>
      {problem && (
        <p role="alert" className="problem">
          {problem}
        </p>
      )}
    </>
  );
}

/** One that was passed over for its kind or its size, which nobody may take for one that is unchanged. */
const passed = (document: Document) => document.status === 'skipped' && Boolean(document.error);

function stateOf(document: Document, words: Dictionary): string {
  switch (document.status) {
    case 'waiting':
      return words.waiting;
    case 'reading':
      return document.chunks ? words.readingOf(document.chunks_done ?? 0, document.chunks) : words.reading;
    case 'failed':
      return words.failed;
    case 'skipped':
      return passed(document) ? words.failed : words.skippedDocument;
    default:
      return [document.pages ? words.pages(document.pages) : '', words.passages(document.chunks ?? 0)].filter(Boolean).join(' · ');
  }
}
