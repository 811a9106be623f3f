// Markdown as React elements. Raw HTML is text, images are their words, and a
// link leads out over http, https or mail only: safe by construction (UI-33).

import { Fragment, memo, useState, type ReactNode } from 'react';
import type { Token, Tokens } from 'marked';
import type { Citation } from '../api/types.ts';
import { useWords } from '../i18n/index.ts';
import { Code } from './Code.tsx';
import { createLexer, fenceClosed, safeHref, splitAround, splitCitations, unescapeEntities } from './lex.ts';

export interface Sources {
  citations: Citation[];
  removed?: string[]; // words that stand for what was taken out
  open(citation: Citation): void;
}

interface Props extends Sources {
  text: string;
}

/** An answer's text. Headings are fitted below the turn's own h2, without a skip. */
export function Markdown({ text, ...sources }: Props) {
  const [tokensOf] = useState(createLexer);
  const tokens = tokensOf(text);
  const levels = headingLevels(tokens);
  const stretches: ReactNode[] = [];
  for (let from = 0; from < tokens.length; from += stretch) {
    stretches.push(<Stretch key={from} tokens={tokens.slice(from, from + stretch)} levels={levels.slice(from, from + stretch)} {...sources} />);
  }
  return stretches;
}

const stretch = 32; // blocks

interface StretchProps extends Sources {
  tokens: Token[];
  levels: number[];
}

/** Some blocks of a text, so that those of a long one which have settled are passed over together. */
const Stretch = memo(
  function Stretch({ tokens, levels, ...sources }: StretchProps) {
    return tokens.map((token, index) => <Block key={index} token={token} level={levels[index]!} {...sources} />);
  },
  (before, after) =>
    before.tokens.length === after.tokens.length &&
    before.tokens.every((token, index) => token === after.tokens[index] && before.levels[index] === after.levels[index]) &&
    sameSources(before, after),
);

function sameSources(before: Sources, after: Sources): boolean {
  return before.citations === after.citations && before.removed === after.removed && before.open === after.open;
}

function headingLevels(tokens: Token[]): number[] {
  const depths = [...new Set(tokens.filter((token) => token.type === 'heading').map((token) => (token as Tokens.Heading).depth))].toSorted();
  let previous = 2;
  return tokens.map((token) => {
    if (token.type !== 'heading') return 0;
    const wanted = 3 + depths.indexOf((token as Tokens.Heading).depth);
    previous = Math.min(wanted, previous + 1, 6);
    return previous;
  });
}

interface BlockProps extends Sources {
  token: Token;
  level: number;
}

const Block = memo(
  function Block({ token, level, ...sources }: BlockProps) {
    return renderBlock(token, level, sources);
  },
  (before, after) =>
    before.token.raw === after.token.raw &&
    before.token.type === after.token.type &&
    before.level === after.level &&
    sameSources(before, after),
);

function renderBlock(token: Token, level: number, sources: Sources): ReactNode {
  switch (token.type) {
    case 'space':
    case 'def':
      return null;
    case 'heading': {
      // A heading inside a quote or a list belongs to what is quoted, not to this page's outline.
      if (level === 0) return <p className="quoted-heading">{inline(token, sources)}</p>;
      const Heading = `h${level}` as 'h3';
      return <Heading>{inline(token, sources)}</Heading>;
    }
    case 'paragraph':
      return <p {...(token.raw.startsWith('— ') ? { className: 'attribution' } : {})}>{inline(token, sources)}</p>;
    case 'code':
      return <Code text={(token as Tokens.Code).text} language={languageOf(token as Tokens.Code)} closed={fenceClosed(token.raw)} />;
    case 'blockquote':
      return <blockquote>{blocks(token, sources)}</blockquote>;
    case 'list':
      return <List token={token as Tokens.List} sources={sources} />;
    case 'table':
      return <Table token={token as Tokens.Table} sources={sources} />;
    case 'hr':
      return <hr />;
    case 'text':
      return inline(token, sources);
    default:
      return <p>{token.raw}</p>; // raw HTML and whatever else: words
  }
}

function languageOf(token: Tokens.Code): string {
  return (token.lang ?? '').split(/\s/)[0]!.toLowerCase();
}

function blocks(token: Token, sources: Sources): ReactNode {
  const children = (token as Tokens.Blockquote).tokens ?? [];
  return children.map((child, index) => <Block key={index} token={child} level={0} {...sources} />);
}

function List({ token, sources }: { token: Tokens.List; sources: Sources }) {
  const items = token.items.map((item, index) => (
    <li key={index} {...(item.task ? { className: 'task' } : {})}>
      {item.task && <input type="checkbox" checked={item.checked ?? false} readOnly disabled aria-label={item.text} />}
      {blocks(item, sources)}
    </li>
  ));
  return token.ordered ? <ol start={token.start || 1}>{items}</ol> : <ul>{items}</ul>;
}

const short = 24; // characters that need no width of their own

function Table({ token, sources }: { token: Tokens.Table; sources: Sources }) {
  const words = useWords();
  const rows = [token.header, ...token.rows];
  const look = token.header.map((_, index) => {
    const side = token.align[index];
    const wide = rows.some((row) => (row[index]?.text.length ?? 0) > short);
    const names = [side ? `align-${side}` : '', wide ? 'wide' : ''].filter(Boolean).join(' ');
    return names ? { className: names } : {};
  });
  const named = token.header.some((cell) => cell.text.trim() !== ''); // rows of a table whose columns nobody named have an empty head
  return (
    <div className="table-scroll" role="region" tabIndex={0} aria-label={words.table}>
      <table>
        {named && (
          <thead>
            <tr>
              {token.header.map((cell, index) => (
                <th key={index} scope="col" {...look[index]}>
                  {inline(cell, sources)}
                </th>
              ))}
            </tr>
          </thead>
        )}
        <tbody>
          {token.rows.map((row, at) => (
            <tr key={at}>
              {row.map((cell, index) => (
                <td key={index} {...look[index]}>
                  {inline(cell, sources)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function inline(token: { tokens?: Token[]; text?: string }, sources: Sources): ReactNode {
  if (!token.tokens) return withMarks(token.text ?? '', sources);
  return token.tokens.map((child, index) => <Inline key={index} token={child} sources={sources} />);
}

function Inline({ token, sources }: { token: Token; sources: Sources }): ReactNode {
  switch (token.type) {
    case 'strong':
      return <strong>{inline(token, sources)}</strong>;
    case 'em':
      return <em>{inline(token, sources)}</em>;
    case 'del':
      return <del>{inline(token, sources)}</del>;
    case 'codespan':
      return <code>{(token as Tokens.Codespan).text}</code>;
    case 'br':
      return <br />;
    case 'link':
      return <Link token={token as Tokens.Link} sources={sources} />;
    case 'image':
      return (token as Tokens.Image).text || (token as Tokens.Image).href; // never loaded: it would tell on the reader
    case 'text':
      return inline(token, sources);
    case 'escape':
      return (token as Tokens.Escape).text;
    case 'checkbox':
      return null; // the list item draws it
    default:
      return token.raw;
  }
}

function Link({ token, sources }: { token: Tokens.Link; sources: Sources }) {
  const href = safeHref(token.href);
  if (!href) return inline(token, sources);
  return (
    <a href={href} target="_blank" rel="noopener noreferrer">
      {inline(token, sources)}
    </a>
  );
}

function withMarks(text: string, sources: Sources): ReactNode {
  const plain = unescapeEntities(text);
  if (!sources.removed?.length) return withCitations(plain, sources);
  return splitAround(plain, sources.removed).map((part, index) =>
    part.found ? <Removed key={index} text={part.text} /> : <Fragment key={index}>{withCitations(part.text, sources)}</Fragment>,
  );
}

/** What stands for words nobody is shown. */
function Removed({ text }: { text: string }) {
  const words = useWords();
  return (
    <span className="removed" title={words.removed}>
      {text}
    </span>
  );
}

/** A chip only for a source this turn returned; any other [n] stays text. */
function withCitations(plain: string, { citations, open }: Sources): ReactNode {
  if (citations.length === 0) return plain;
  return splitCitations(plain).map((part, index) => {
    if (typeof part === 'string') return part;
    const citation = citations.find((one) => one.n === part);
    return citation ? <Chip key={index} citation={citation} open={open} /> : `[${part}]`;
  });
}

export function Chip({ citation, open }: { citation: Citation; open(citation: Citation): void }) {
  const words = useWords();
  return (
    <button
      type="button"
      className="cite"
      title={citation.path || citation.title}
      aria-label={words.source(citation.n, citation.title)}
      onClick={() => open(citation)}
    >
      {citation.n}
    </button>
  );
}
