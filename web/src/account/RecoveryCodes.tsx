import { useEffect, useRef } from 'react';
import { session } from '../api/session.ts';
import { useWords } from '../i18n/index.ts';
import { download } from '../lib/download.ts';
import { CopyButton } from '../shell/CopyButton.tsx';

/** Recovery codes, the one time they are told (AUTH-13). */
export function RecoveryCodes({ codes, onKept }: { codes: string[]; onKept(): void }) {
  const words = useWords();
  const text = `${codes.join('\n')}\n`;
  const lead = useRef<HTMLParagraphElement>(null);
  useEffect(() => lead.current?.focus(), []); // what had the focus is gone
  return (
    <div className="codes">
      <p ref={lead} tabIndex={-1}>
        {words.keepCodes}
      </p>
      <ul aria-label={words.recoveryCodes}>
        {codes.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ul>
      <div className="flex-row">
        <CopyButton text={text} label={words.copyCodes} />
        <button type="button" className="quiet" onClick={() => download('liminal-recovery-codes.txt', 'text/plain', `Liminal, ${session.get().user?.email ?? ''}\n\n${text}`)}>
          {words.download}
        </button>
      </div>
      <button type="button" className="primary" onClick={onKept}>
        {words.codesKept}
      </button>
    </div>
  );
}
