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
  const [came, setCame] = useState<'copied' | 'refused' | null>(null);
  useEffect(() => {
    if (!came) return;
    const timer = setTimeout(() => setCame(null), came === 'copied' ? 1_600 : 4_000);
    return () => clearTimeout(timer);
  }, [came]);
  const said = came === 'copied' ? words.copied : came === 'refused' ? words.copyRefused : label;

  async function copy() {
    try {
      await navigator.clipboard.writeText(text); // there is none on a page that came over plain HTTP
      setCame('copied');
    } catch {
      setCame('refused');
    }
  }

  return (
    <button
      type="button"
      className={icon ? 'act' : 'quiet'}
      {...(icon ? { 'aria-label': said, title: said } : {})}
      onClick={() => void copy()}
    >
      {icon ? <Icon name={came === 'copied' ? 'check' : came === 'refused' ? 'close' : 'copy'} /> : said}
    </button>
  );
}
