import { useWords } from '../i18n/index.ts';

/** Contexts: named sets of documents, and what is in them (UI-10). */
export default function ContextsPage() {
  const words = useWords();
  return (
    <div className="pages-body">
      <h1>{words.contexts}</h1>
    </div>
  );
}
