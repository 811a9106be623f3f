import { useMemo, useState } from 'react';
import { useWords } from '../i18n/index.ts';
import { fold, rowsOf, type Block, type Row } from './lines.ts';

interface Props {
  before: unknown;
  after: unknown;
}

/** What changes between two JSON values; what stays is folded away. */
export function Diff({ before, after }: Props) {
  const words = useWords();
  const blocks = useMemo(() => fold(rowsOf(before, after)), [before, after]);
  const changed = blocks.some((block) => block.kind === 'rows' && block.rows.some((row) => row.sign !== ' '));
  if (!changed) return <p className="hint">{words.diffNone}</p>;
  return (
    <div className="diff" role="group" tabIndex={0} aria-label={words.diffLabel}>
      {blocks.map((block, at) => (
        // A fold that was opened belongs to this comparison only.
        <Part key={`${at} ${block.rows[0]!.before} ${block.rows.length}`} block={block} />
      ))}
    </div>
  );
}

function Part({ block }: { block: Block }) {
  const words = useWords();
  const [open, setOpen] = useState(false);
  if (block.kind === 'fold' && !open) {
    return (
      <button type="button" className="fold" onClick={() => setOpen(true)}>
        {words.diffFolded(block.rows.length)}
      </button>
    );
  }
  return block.rows.map((row, at) => <Line key={at} row={row} />);
}

const names = { '+': 'added', '-': 'taken', ' ': 'same' } as const;
const tags = { '+': 'ins', '-': 'del', ' ': 'span' } as const;

function Line({ row }: { row: Row }) {
  const Tag = tags[row.sign];
  return (
    <div className={`line ${names[row.sign]}`}>
      <span className="number">{row.before || ''}</span>
      <span className="number">{row.after || ''}</span>
      <span className="sign" aria-hidden="true">
        {row.sign === '-' ? '−' : row.sign}
      </span>
      <Tag className="text">{row.pieces.map((piece, at) => (piece.changed ? <mark key={at}>{piece.text}</mark> : piece.text))}</Tag>
    </div>
  );
}
