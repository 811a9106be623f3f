import { useInfiniteQuery } from '@tanstack/react-query';
import { ask } from '../api/ask.ts';
import { Failure } from '../api/failure.ts';
import { sentence } from '../i18n/errors.ts';
import { language, useWords } from '../i18n/index.ts';
import { moment } from '../lib/format.ts';
import { useStore } from '../lib/store.ts';
import FileActs from './FileActs.tsx';
import { Sheet } from './Sheet.tsx';
import type { Opened } from './state.ts';
import { useDocumentWords } from './words.ts';

/** A document as it was read: what is searched and quoted, from its beginning, 64 KB at a time. */
export default function DocumentPanel({ document }: { document: Opened }) {
  const words = useWords();
  const own = useDocumentWords();
  const locale = useStore(language);
  return (
    <Sheet title={document.title || document.path} note={own.documentAsRead}>
      <p className="where">
        {document.superseded_at && <span>{words.olderVersion(moment(Date.parse(document.superseded_at), locale))}</span>}
        <span className="monospace">{document.path}</span>
      </p>
      <FileActs id={document.id} path={document.path} />
      <Text id={document.id} />
    </Sheet>
  );
}

function Text({ id }: { id: string }) {
  const words = useWords();
  const own = useDocumentWords();
  const text = useInfiniteQuery({
    queryKey: ['document-text', id],
    queryFn: ({ pageParam: start, signal }) => ask('passage', { path: { id }, query: { start, end: 0, margin: 0 }, signal }),
    initialPageParam: 0,
    getNextPageParam: (last) => (last.end < last.length ? last.end : undefined),
    staleTime: 60_000,
  });
  if (text.isPending) return <p className="hint">{words.loadingPassage}</p>;
  if (text.isError && !text.data) {
    const none = text.error instanceof Failure && text.error.status === 404;
    return (
      <p className="hint" role="status">
        {none ? own.documentUnread : sentence(text.error)}
      </p>
    );
  }
  return (
    <div className="document-text" tabIndex={0} role="region" aria-label={own.documentAsRead}>
      {text.data.pages.map((page) => page.quote).join('')}
      {text.hasNextPage && (
        <p>
          <button type="button" className="quiet" disabled={text.isFetchingNextPage} onClick={() => void text.fetchNextPage()}>
            {words.showMore}
          </button>
        </p>
      )}
    </div>
  );
}
