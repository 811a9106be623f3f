import { useAttempt } from '../account/useAttempt.ts';
import { isPDF, openPDF, saveFile } from '../api/files.ts';
import { useWords } from '../i18n/index.ts';
import { Icon } from '../shell/Icon.tsx';
import { useDocumentWords } from './words.ts';

/** The file a document was read from: to save, and of a PDF to open, at a page where one is known. */
export default function FileActs({ id, path, page }: { id: string; path: string; page?: number | undefined }) {
  const words = useWords();
  const own = useDocumentWords();
  const attempt = useAttempt();
  return (
    <div className="file-acts flex-row">
      {isPDF(path) && (
        <button type="button" className="text-button" disabled={attempt.busy} onClick={() => void attempt.go(() => openPDF(id, page))}>
          <Icon name="out" />
          <span>{page ? own.openPDFAt(page) : own.openPDF}</span>
        </button>
      )}
      <button type="button" className="text-button" disabled={attempt.busy} onClick={() => void attempt.go(() => saveFile(id))}>
        <Icon name="down" />
        <span>{words.download}</span>
      </button>
      {attempt.problem && (
        <p role="alert" className="problem">
          {attempt.problem}
        </p>
      )}
    </div>
  );
}
