import { useEffect, useState } from 'react';
import { useWords } from '../i18n/index.ts';

export function CopyButton({ text, label }: { text: string; label: string }) {
  const words = useWords();
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 1_600);
    return () => clearTimeout(timer);
  }, [copied]);
  return (
    <button
      type="button"
      className="quiet"
      onClick={() => {
        void navigator.clipboard?.writeText(text).then(() => setCopied(true));
      }}
    >
      {copied ? words.copied : label}
    </button>
  );
}
