import type { Citation } from '../api/types.ts';
import { useWords } from '../i18n/index.ts';
import { headingOf, onOneLine } from './thread.ts';

interface Props {
  citations: Citation[];
  quoting: boolean; // a source without a place is told by its words; not where words were taken out of the answer
  open(citation: Citation): void;
}

export function Sources({ citations, quoting, open }: Props) {
  const words = useWords();
  return (
    <ol className="sources" aria-label={words.sources}>
      {citations.map((citation) => (
        <li key={citation.n}>
          <button type="button" title={citation.path} onClick={() => open(citation)}>
            <span className="cite" aria-hidden="true">
              {citation.n}
            </span>
            <span className="source-title">{citation.title}</span>
            <span className="source-text">
              {[citation.page ? words.page(citation.page) : '', headingOf(citation)].filter(Boolean).join(' · ') || (quoting ? onOneLine(citation.text) : '')}
            </span>
          </button>
        </li>
      ))}
    </ol>
  );
}
