import { useContext, useState } from 'react';
import type { Message } from '../api/types.ts';
import { useWords } from '../i18n/index.ts';
import { Icon } from '../shell/Icon.tsx';
import { beside, ChangeContext, showVersion } from './change.ts';
import { useLockReason } from './useLockReason.ts';

/** Which of its versions a message is shown in, and the way to the others: ‹ 1/2 ›. */
export function Versions({ message }: { message: Message }) {
  const words = useWords();
  const change = useContext(ChangeContext);
  const locked = useLockReason();
  const [busy, setBusy] = useState(false);
  const versions = message.versions;
  if (!change || !versions || versions.ids.length < 2) return null;
  const conversation = change.conversation;

  function step(by: -1 | 1) {
    const next = beside(message, by);
    if (!next || busy || locked) return;
    setBusy(true);
    void showVersion(conversation, next).finally(() => setBusy(false));
  }

  return (
    <div
      className="versions-of"
      role="group"
      aria-label={words.messageVersions}
      aria-busy={busy}
      onKeyDown={(event) => {
        if ((event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') || event.altKey || event.ctrlKey || event.metaKey) return;
        event.preventDefault();
        step(event.key === 'ArrowLeft' ? -1 : 1);
      }}
    >
      <Step name={words.previousVersion} icon="left" off={locked || (beside(message, -1) ? '' : ' ')} press={() => step(-1)} />
      <span aria-live="polite">
        <span className="hidden">{words.versionOf(versions.at + 1, versions.ids.length)}</span>
        <span aria-hidden="true">
          {versions.at + 1}/{versions.ids.length}
        </span>
      </span>
      <Step name={words.nextVersion} icon="right" off={locked || (beside(message, 1) ? '' : ' ')} press={() => step(1)} />
    </div>
  );
}

/** Stays where it is when there is nothing further, so that the focus does too. off: why not, or a space. */
function Step({ name, icon, off, press }: { name: string; icon: 'left' | 'right'; off: string; press(): void }) {
  return (
    <button type="button" className="act" aria-label={name} title={off.trim() || name} aria-disabled={off !== ''} onClick={press}>
      <Icon name={icon} />
    </button>
  );
}
