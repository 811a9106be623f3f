import { memo, useMemo, type ReactNode } from 'react';
import { linesOf, type Mention } from './doc.ts';

/** A person's words: what they mentioned stands as pills, everything else as it was written. `doc` is the message's meta.tiptap_json. */
export const MentionText = memo(function MentionText({ text, doc }: { text: string; doc?: unknown }) {
  const lines = useMemo(() => linesOf(doc), [doc]);
  if (!lines) return <p>{text}</p>;
  return (
    <p>
      {lines.map((line, at) => [
        at > 0 ? '\n' : '',
        ...line.map((piece, n): ReactNode => (typeof piece === 'string' ? piece : <Pill key={`${at}.${n}`} mention={piece} />)),
      ])}
    </p>
  );
});

export function Pill({ mention }: { mention: Mention }) {
  return (
    <span className="mention-pill" data-category={mention.category}>
      @{mention.label}
    </span>
  );
}
