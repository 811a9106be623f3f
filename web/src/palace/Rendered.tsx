import { useState, type ReactNode } from 'react';
import { Json } from '../code/Json.tsx';
import { language } from '../i18n/index.ts';
import { fileSize } from '../lib/format.ts';
import { useStore } from '../lib/store.ts';
import { Code } from '../markdown/Code.tsx';
import { Markdown } from '../markdown/Markdown.tsx';
import { pieces, type Piece } from './content.ts';
import { usePalaceWords } from './words.ts';

const none: never[] = []; // what was captured cites none of our sources
const nowhere = () => {};

/** What a block says, as one reads it. It is a stranger's: text and markdown, and never markup. */
export function Rendered({ content }: { content: unknown }) {
  const words = usePalaceWords();
  const list = pieces(content);
  if (list.length === 0) return <p className="hint">{content === null || content === undefined ? words.noContent : words.empty}</p>;
  return list.map((piece, at) => <One key={at} piece={piece} />);
}

function One({ piece }: { piece: Piece }) {
  const words = usePalaceWords();
  const locale = useStore(language);
  switch (piece.kind) {
    case 'prose':
      return (
        <Long text={piece.text}>
          {(text) => (
            <div className="prose">
              <Markdown text={text} citations={none} open={nowhere} />
            </div>
          )}
        </Long>
      );
    case 'output':
      return <Long text={piece.text}>{(text) => <Code text={text} language={piece.language} closed />}</Long>;
    case 'json':
      return <Json value={piece.value} />;
    case 'medium':
      return <p className="hint">{words.medium(piece.type, fileSize(piece.size, locale))}</p>;
    case 'redacted':
      return <p className="hint">{words.redacted}</p>;
    case 'failed':
      return <p className="problem">{words.isError}</p>;
  }
}

const most = 40_000; // characters shown before somebody wants all of them

function Long({ text, children }: { text: string; children(text: string): ReactNode }) {
  const words = usePalaceWords();
  const locale = useStore(language);
  const [whole, setWhole] = useState(text.length <= most);
  if (whole) return children(text);
  return (
    <>
      {children(text.slice(0, most))}
      <p className="hint">
        {words.longText(fileSize(text.length, locale))}{' '}
        <button type="button" className="link" onClick={() => setWhole(true)}>
          {words.wholeText}
        </button>
      </p>
    </>
  );
}
