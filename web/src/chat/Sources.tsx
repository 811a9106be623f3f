import { ChipLink } from './Chips.tsx';
import type { Citation } from '../api/types.ts';
import { useWords } from '../i18n/index.ts';
import { leads } from './chips.ts';
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
          {citation.record ? <RecordSource citation={citation} /> : <PassageSource citation={citation} quoting={quoting} open={open} />}
        </li>
      ))}
    </ol>
  );
}

/** A record that is cited: it has a page instead of a place in a document. */
function RecordSource({ citation }: { citation: Citation }) {
  const record = citation.record!;
  const line = (
    <>
      <span className="cite" aria-hidden="true">
        {citation.n}
      </span>
      <span className="source-title">{citation.text || record.title || record.id}</span>
    </>
  );
  if (!leads(record.href)) return <span className="source-line">{line}</span>;
  return (
    <ChipLink href={record.href} className="source-line">
      {line}
    </ChipLink>
  );
}

function PassageSource({ citation, quoting, open }: { citation: Citation } & Omit<Props, 'citations'>) {
  const words = useWords();
  return (
    <button type="button" title={citation.path} onClick={() => open(citation)}>
      <span className="cite" aria-hidden="true">
        {citation.n}
      </span>
      <span className="source-title">{citation.title}</span>
      <span className="source-text">
        {[citation.page ? words.page(citation.page) : '', headingOf(citation)].filter(Boolean).join(' · ') || (quoting ? onOneLine(citation.text) : '')}
      </span>
    </button>
  );
}
