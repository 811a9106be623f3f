import { lazy, Suspense, useEffect, useRef } from 'react';
import { usePassage } from '../api/queries.ts';
import { Failure } from '../api/failure.ts';
import type { Citation } from '../api/types.ts';
import { headingOf } from '../chat/thread.ts';
import { sentence } from '../i18n/errors.ts';
import { language, useWords } from '../i18n/index.ts';
import { moment } from '../lib/format.ts';
import { useStore } from '../lib/store.ts';
import { Icon } from '../shell/Icon.tsx';
import { Sheet } from './Sheet.tsx';
import { panel } from './state.ts';

const FileActs = lazy(() => import('./FileActs.tsx'));

/** The passage a citation stands for, in the middle of its document. */
export function PassagePanel({ citations, n }: { citations: Citation[]; n: number }) {
  const words = useWords();
  const locale = useStore(language);
  const at = Math.max(0, citations.findIndex((one) => one.n === n));
  const citation = citations[at]!;
  const { data: text } = usePassage(citation);
  const go = (index: number) => panel.set({ kind: 'passage', citations, n: citations[index]!.n });
  return (
    <Sheet title={citation.title} note={words.passageOf(at + 1, citations.length)}>
      <p className="where">
        {headingOf(citation) && <span>{headingOf(citation)}</span>}
        {citation.page ? <span>{text?.pages ? words.pageOf(citation.page, text.pages) : words.pageLong(citation.page)}</span> : null}
        {text?.superseded_at && <span>{words.olderVersion(moment(Date.parse(text.superseded_at), locale))}</span>}
        <span className="monospace">{citation.path}</span>
      </p>
      {text && (
        <Suspense>
          <FileActs key={citation.document_id} id={citation.document_id} path={citation.path ?? ''} page={citation.page} />
        </Suspense>
      )}
      <Text key={`${citation.chunk_id ?? ''} ${citation.start}`} citation={citation} />
      {citations.length > 1 && (
        <div className="sheet-foot flex-row">
          <button type="button" className="text-button" disabled={at === 0} onClick={() => go(at - 1)}>
            <Icon name="left" />
            <span>{words.previousSource}</span>
          </button>
          <button type="button" className="text-button" disabled={at === citations.length - 1} onClick={() => go(at + 1)}>
            <span>{words.nextSource}</span>
            <Icon name="right" />
          </button>
        </div>
      )}
    </Sheet>
  );
}

/** Offsets count bytes of UTF-8. */
function bytes(text: string): number {
  return new TextEncoder().encode(text).length;
}

function Text({ citation }: { citation: Citation }) {
  const words = useWords();
  const passage = usePassage(citation);
  const view = useRef<HTMLDivElement>(null);
  const quote = useRef<HTMLElement>(null);
  const text = passage.data;
  const changed = text !== undefined && text.quote !== citation.text;
  useEffect(() => {
    // By hand: scrollIntoView would move the page around the sheet as well.
    const [box, mark] = [view.current, quote.current];
    if (!box || !mark) return;
    const above = mark.getBoundingClientRect().top - box.getBoundingClientRect().top;
    box.scrollTop += above - Math.max(24, (box.clientHeight - mark.getBoundingClientRect().height) / 2);
  }, [text]);

  if (passage.isPending) return <p className="hint">{words.loadingPassage}</p>;
  if (!text || changed) {
    const gone = passage.error instanceof Failure && passage.error.status === 404;
    return (
      <>
        <p className="hint" role="status">
          {changed ? words.passageChanged : gone ? words.passageGone : sentence(passage.error)}
        </p>
        <div className="document-text" tabIndex={0} role="region" aria-label={words.passage}>
          <mark>{citation.text}</mark>
        </div>
      </>
    );
  }
  return (
    <div ref={view} className="document-text" tabIndex={0} role="region" aria-label={words.passage}>
      {text.start > bytes(text.before) && !citation.page && '… '}
      {text.before}
      <mark ref={quote}>{text.quote}</mark>
      {text.after}
      {text.end + bytes(text.after) < text.length && !citation.page && ' …'}
    </div>
  );
}
