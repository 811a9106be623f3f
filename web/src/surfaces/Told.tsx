import { useState } from 'react';
import type { SurfaceInfo } from '../api/gen.ts';
import { session } from '../api/session.ts';
import { language } from '../i18n/index.ts';
import { readItem, writeItem } from '../lib/storage.ts';
import { useStore } from '../lib/store.ts';
import { said } from './said.ts';
import { useSurfaceWords } from './words.ts';

const key = 'liminal.told'; // which assistants' words were acknowledged in this browser, by whom

function known(): string[] {
  try {
    const value: unknown = JSON.parse(readItem('local', key) ?? '[]');
    return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
  } catch {
    return [];
  }
}

/** What becomes of the words here, before the first of them: a strip of the page, never over it (GRND-44, GRND-46). */
export function Told({ surface }: { surface: SurfaceInfo }) {
  const words = useSurfaceWords();
  const locale = useStore(language);
  const text = said(surface.disclosure, locale);
  const mine = `${useStore(session).user?.id ?? ''}/${surface.path}/${fingerprint(text)}`; // other words are told again
  const [done, setDone] = useState('');
  if (text === '' || done === mine || known().includes(mine)) return null;
  return (
    <section className="told" aria-label={words.toldLabel(said(surface.title, locale))}>
      <p>{text}</p>
      <button
        type="button"
        onClick={() => {
          writeItem('local', key, JSON.stringify([...known(), mine].slice(-100)));
          setDone(mine);
          document.getElementById('message')?.focus();
        }}
      >
        {words.told}
      </button>
    </section>
  );
}

function fingerprint(text: string): string {
  let sum = 0;
  for (const letter of text) sum = (Math.imul(sum, 31) + letter.codePointAt(0)!) | 0;
  return (sum >>> 0).toString(36);
}
