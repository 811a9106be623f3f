import { useId, useState, type ReactNode } from 'react';
import { useFileLimits } from '../api/queries.ts';
import { language, useWords } from '../i18n/index.ts';
import { fileSize, kindsOfFile } from '../lib/format.ts';
import { useStore } from '../lib/store.ts';
import { PickFiles } from './Attach.tsx';
import { chunkSizeOf } from './chunks.ts';
import { addFiles } from './uploads.ts';

interface Props {
  /** The context the files go to; '' is the person's own "My documents". */
  contextID: string;
  /** What is to be chosen before the size, as the context. */
  children?: ReactNode;
}

/** Files for a context, and how long its passages are to be (UI-08, FILE-10). */
export function UploadForm({ contextID, children }: Props) {
  const words = useWords();
  const locale = useStore(language);
  const limits = useFileLimits().data;
  const [size, setSize] = useState('');
  const id = useId();
  const chunkSize = chunkSizeOf(size);
  const wrong = chunkSize === null;
  return (
    <div className="upload-form">
      {children}
      <label className="field size">
        <span>{words.chunkSize}</span>
        <input type="text" inputMode="numeric" value={size} aria-invalid={wrong || undefined} aria-describedby={id} onChange={(event) => setSize(event.target.value)} />
      </label>
      {[false, true].map((folder) => (
        <PickFiles
          key={String(folder)}
          label={folder ? words.uploadFolder : words.upload}
          disabled={wrong}
          folder={folder}
          onFiles={(files) => void addFiles(files, contextID, chunkSize ?? undefined)}
        />
      ))}
      <p id={id} className={wrong ? 'problem' : 'hint'} role={wrong ? 'alert' : undefined}>
        {wrong ? words.chunkSizeWrong : words.chunkSizeHint}
      </p>
      {limits && (
        <p className="hint" title={limits.extensions.join(' ')}>
          {words.limits(fileSize(limits.max_bytes, locale), kindsOfFile(limits.extensions, words.andMore))}
        </p>
      )}
    </div>
  );
}
