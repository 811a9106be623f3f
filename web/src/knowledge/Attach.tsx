import { useRef } from 'react';
import { useUIConfig } from '../api/queries.ts';
import type { Conversation } from '../api/types.ts';
import { useWords } from '../i18n/index.ts';
import { useStore } from '../lib/store.ts';
import { Icon } from '../shell/Icon.tsx';
import { chosenContext, contextOf } from './choice.ts';
import { addFiles } from './uploads.ts';

export function Attach({ draftKey, conversation }: { draftKey: string; conversation: Conversation | null }) {
  const words = useWords();
  const chosen = useStore(chosenContext);
  return (
    <PickFiles
      label={words.attach}
      quiet
      onFiles={(files) => void addFiles(files, contextOf(chosen, draftKey, conversation))}
    />
  );
}

interface PickProps {
  label: string;
  quiet?: boolean;
  disabled?: boolean;
  /** A folder is chosen, with all that is below it. */
  folder?: boolean;
  onFiles(files: File[]): void;
}

/** A button that opens the system's chooser of files, or of a folder. */
export function PickFiles({ label, quiet, disabled, folder, onFiles }: PickProps) {
  const config = useUIConfig();
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <button
        type="button"
        className={quiet ? 'icon-button' : 'text-button'}
        aria-label={label}
        title={label}
        disabled={disabled}
        onClick={() => input.current?.click()}
      >
        <Icon name={quiet ? 'clip' : 'plus'} />
        {!quiet && <span>{label}</span>}
      </button>
      <input
        ref={(it) => {
          input.current = it;
          if (it) it.webkitdirectory = folder ?? false;
        }}
        type="file"
        className="hidden"
        multiple
        tabIndex={-1}
        aria-label={label}
        aria-hidden="true"
        accept={config.data?.upload.extensions.map((name) => (name.startsWith('.') ? name : `.${name}`)).join(',')}
        onChange={(event) => {
          onFiles([...(event.target.files ?? [])]);
          event.target.value = ''; // the same file again is a new wish
        }}
      />
    </>
  );
}
