import { useWords } from '../i18n/index.ts';
import type { Dictionary } from '../i18n/en.ts';
import { useStore } from '../lib/store.ts';
import { Icon } from '../shell/Icon.tsx';
import { dismiss, dismissReady, uploads, type Upload } from './uploads.ts';

const manyReady = 2;

/** The files on their way in, each with where it stands. */
export function UploadTray() {
  const words = useWords();
  const rows = useStore(uploads);
  if (rows.length === 0) return null;
  const ready = rows.filter((row) => row.phase === 'ready');
  const folded = ready.length > manyReady; // good news is told once
  return (
    <ul className="tray" aria-label={words.documents}>
      {folded && (
        <li data-phase="ready">
          <Icon name="document" />
          <span className="state">{words.readyFiles(ready.length)}</span>
          <span />
          <button type="button" className="icon-button" aria-label={words.dismiss} onClick={dismissReady}>
            <Icon name="close" />
          </button>
        </li>
      )}
      {(folded ? rows.filter((row) => row.phase !== 'ready') : rows).map((row) => (
        <li key={row.id} data-phase={row.phase}>
          <Icon name="document" />
          <span className="name">{row.name}</span>
          <span className="state" role="status">
            {stateOf(row, words)}
          </span>
          {(row.phase === 'sending' || row.phase === 'reading') && (
            <progress aria-label={row.name} {...(row.total > 0 ? { value: row.done, max: row.total } : {})} />
          )}
          <button type="button" className="icon-button" aria-label={`${words.dismiss}: ${row.name}`} onClick={() => dismiss(row.id)}>
            <Icon name="close" />
          </button>
        </li>
      ))}
    </ul>
  );
}

function stateOf(row: Upload, words: Dictionary): string {
  if (row.phase === 'sending') return words.uploading(row.done);
  if (row.phase === 'reading') return row.total > 0 ? words.readingOf(row.done, row.total) : words.reading;
  if (row.phase === 'failed') return row.problem;
  return row.passages > 0 ? `${words.ready} · ${words.passages(row.passages)}` : words.ready;
}
