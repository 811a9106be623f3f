import { memo, useState } from 'react';
import { language, useWords } from '../i18n/index.ts';
import type { Dictionary } from '../i18n/en.ts';
import { stamp } from '../lib/format.ts';
import { useStore } from '../lib/store.ts';
import { Icon } from '../shell/Icon.tsx';
import type { LeftOut } from './found.ts';
import { dismiss, dismissAll, dismissFailed, dismissReady, few, leftOut, retry, uploads, type Upload } from './uploads.ts';

const manyReady = 2;

/**
 * The files on their way in, each with where it stands; many of them as one line
 * that opens. Apart: it is no part of what is around it.
 */
export function UploadTray({ apart }: { apart?: boolean }) {
  const words = useWords();
  const rows = useStore(uploads);
  const left = useStore(leftOut);
  const [open, setOpen] = useState(false);
  if (rows.length === 0 && !left) return null;
  const failed = rows.filter((row) => row.phase === 'failed');
  const going = rows.filter((row) => row.phase !== 'failed');
  const toggle = () => setOpen(!open);
  const list = (
    <ul className="tray" aria-label={words.filesUnderWay}>
      {going.length > few ? <Going rows={going} open={open} toggle={toggle} /> : <Few rows={going} />}
      {open && going.length > few && <Rows rows={going} />}
      {failed.length > few && <Failed rows={failed} open={open} toggle={toggle} />}
      {(open || failed.length <= few) && <Rows rows={failed} />}
      {left && <Left left={left} />}
    </ul>
  );
  if (!apart) return list;
  return (
    <aside className="uploads-apart" aria-label={words.filesUnderWay}>
      {list}
    </aside>
  );
}

/** Of a few files each has its row; good news is told once. */
function Few({ rows }: { rows: Upload[] }) {
  const ready = rows.filter((row) => row.phase === 'ready');
  if (ready.length <= manyReady) return <Rows rows={rows} spoken />;
  return (
    <>
      <AllReady ready={ready.length} />
      <Rows rows={rows.filter((row) => row.phase !== 'ready')} spoken />
    </>
  );
}

function AllReady({ ready }: { ready: number }) {
  const words = useWords();
  return (
    <li data-phase="ready">
      <Icon name="document" />
      <span className="state wide" role="status">
        {words.readyFiles(ready)}
      </span>
      <span className="acts">
        <Dismiss label={words.dismiss} act={dismissReady} />
      </span>
    </li>
  );
}

/** Many files that are under way: how many are read, and how many have yet to be sent. */
function Going({ rows, open, toggle }: Folding) {
  const words = useWords();
  const ready = rows.filter((row) => row.phase === 'ready').length;
  if (ready === rows.length) return <AllReady ready={ready} />;
  const unsent = rows.filter((row) => row.phase === 'waiting' || row.phase === 'sending').length;
  return (
    <li data-phase="reading">
      <Icon name="document" />
      <span className="state wide">
        <span className="name">{words.filesRead(ready, rows.length)}</span> {unsent > 0 && words.filesToSend(unsent)}
      </span>
      <progress aria-label={words.filesUnderWay} value={ready} max={rows.length} />
      <span className="acts">
        <Toggle open={open} toggle={toggle} />
        <Dismiss label={unsent > 0 ? words.stopAll : words.dismissAll} act={dismissAll} />
      </span>
    </li>
  );
}

/** Many files that failed. */
function Failed({ rows, open, toggle }: Folding) {
  const words = useWords();
  const problems = new Set(rows.map((row) => row.problem));
  return (
    <li data-phase="failed">
      <Icon name="document" />
      <span className="state wide" role="status">
        {words.filesFailed(rows.length)} {problems.size === 1 && rows[0]?.problem}
      </span>
      <span className="acts">
        {rows.some((row) => row.mayRetry) && (
          <button type="button" className="quiet" onClick={() => void retry()}>
            {words.tryAgain}
          </button>
        )}
        <Toggle open={open} toggle={toggle} />
        <Dismiss label={words.dismissAll} act={dismissFailed} />
      </span>
    </li>
  );
}

interface Folding {
  rows: Upload[];
  open: boolean;
  toggle(): void;
}

function Toggle({ open, toggle }: { open: boolean; toggle(): void }) {
  const words = useWords();
  return (
    <button type="button" className="quiet" aria-expanded={open} onClick={toggle}>
      {open ? words.hideFiles : words.showFiles}
    </button>
  );
}

/** What of a folder was not sent, in a sentence: it is no fault of anybody. */
function Left({ left }: { left: LeftOut }) {
  const words = useWords();
  const why = [
    left.unsupported > 0 && words.leftUnsupported(left.unsupported),
    left.hidden > 0 && words.leftHidden(left.hidden),
    left.empty > 0 && words.leftEmpty(left.empty),
    left.unreadable > 0 && words.leftUnreadable(left.unreadable),
    left.beyond && words.leftBeyond,
  ];
  return (
    <li data-phase="left">
      <Icon name="document" />
      <span className="state wide" role="status">
        {words.folderLeft(why.filter((one) => one !== false).join(', '))}
      </span>
      <span className="acts">
        <Dismiss label={words.dismiss} act={() => leftOut.set(null)} />
      </span>
    </li>
  );
}

function Rows({ rows, spoken }: { rows: Upload[]; spoken?: boolean }) {
  const words = useWords();
  return rows.map((row) => <Row key={row.id} row={row} words={words} spoken={spoken || row.phase === 'failed'} />);
}

/** One of many is drawn again only when something about it has changed. */
const Row = memo(function Row({ row, words, spoken }: { row: Upload; words: Dictionary; spoken: boolean }) {
  return (
    <li data-phase={row.phase}>
      <Icon name="document" />
      <span className="name">{row.name}</span>
      <span className="state" role={spoken ? 'status' : undefined}>
        {stateOf(row, words)}
      </span>
      {(row.phase === 'sending' || row.phase === 'reading') && (
        <progress aria-label={row.name} {...(row.total > 0 ? { value: row.done, max: row.total } : {})} />
      )}
      <span className="acts">
        {row.phase === 'failed' && row.mayRetry && (
          <button type="button" className="icon-button" aria-label={`${words.tryAgain}: ${row.name}`} title={words.tryAgain} onClick={() => void retry(row.id)}>
            <Icon name="again" />
          </button>
        )}
        <Dismiss label={`${words.dismiss}: ${row.name}`} act={() => dismiss(row.id)} />
      </span>
    </li>
  );
});

function Dismiss({ label, act }: { label: string; act(): void }) {
  return (
    <button type="button" className="icon-button" aria-label={label} title={label} onClick={act}>
      <Icon name="close" />
    </button>
  );
}

function stateOf(row: Upload, words: Dictionary): string {
  if (row.phase === 'waiting') return words.waiting;
  if (row.phase === 'sending') return words.uploading(row.done);
  if (row.phase === 'reading') return row.total > 0 ? words.readingOf(row.done, row.total) : row.preparing ? words.preparing : words.reading;
  if (row.phase === 'failed') return [row.problem, row.replaces && words.stillUsed(cameAt(row.replaces))].filter(Boolean).join(' ');
  return [words.ready, row.passages > 0 && words.passages(row.passages), row.replaces && words.replaced(cameAt(row.replaces))].filter(Boolean).join(' · ');
}

/** When a version came, as short as a row has room for. */
function cameAt(time: string): string {
  return stamp(time, new Date(), language.get());
}
