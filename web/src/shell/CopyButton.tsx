import { useEffect, useState } from 'react';
import { useWords } from '../i18n/index.ts';
import { Icon } from './Icon.tsx';

interface Props {
  text: string;
  label: string;
  icon?: boolean; // a drawing instead of the words
}

export function CopyButton({ text, label, icon = false }: Props) {
  const words = useWords();
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 1_600);
    return () => clearTimeout(timer);
  }, [copied]);
  const said = copied ? words.copied : label;
  return (
    <button
      type="button"
      className={icon ? 'act' : 'quiet'}
      {...(icon ? { 'aria-label': said, title: said } : {})}
      onClick={() => {
        void navigator.clipboard?.writeText(text).then(() => setCopied(true));
      }}
    >
      {icon ? <Icon name={copied ? 'check' : 'copy'} /> : said}
    </button>
  );
}
