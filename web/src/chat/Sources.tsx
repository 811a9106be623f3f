import type { Citation } from '../api/types.ts';
import { useWords } from '../i18n/index.ts';
import { headingOf } from './thread.ts';

export function Sources({ citations, open }: { citations: Citation[]; open(citation: Citation): void }) {
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
              {[citation.page ? words.page(citation.page) : '', headingOf(citation)].filter(Boolean).join(' · ') || citation.text}
            </span>
          </button>
        </li>
      ))}
    </ol>
  );
}
