import { useEffect, useState } from 'react';
import { useWords } from '../i18n/index.ts';
import { CopyButton } from '../shell/CopyButton.tsx';
import type { Piece } from './highlight.ts';

const mostColoured = 16_000; // characters; beyond, the thousands of spans would hold the page up (measured: a second for 50,000)

/** A block of code; coloured once it is complete. */
export function Code({ text, language, closed }: { text: string; language: string; closed: boolean }) {
  const words = useWords();
  const [pieces, setPieces] = useState<Piece[] | null>(null);
  useEffect(() => {
    if (!closed || !language || text.length > mostColoured) return;
    let current = true;
    void import('./highlight.ts').then(({ highlight }) => {
      if (current) setPieces(highlight(text, language));
    });
    return () => {
      current = false;
    };
  }, [text, language, closed]);
  return (
    <figure className="code code-block">
      <figcaption>
        <span>{language || words.code}</span>
        <CopyButton text={text} label={words.copy} />
      </figcaption>
      {/* Scrollable, so the keyboard must be able to reach it. */}
      <pre tabIndex={0} aria-label={language || words.code}>
        <code>{pieces ? pieces.map((piece, index) => <Span key={index} piece={piece} />) : text}</code>
      </pre>
    </figure>
  );
}

function Span({ piece }: { piece: Piece }) {
  return piece.className ? <span className={piece.className}>{piece.text}</span> : piece.text;
}
