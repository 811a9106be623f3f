// Small pieces the palace's pages are made of.

import { useEffect, type ReactNode } from 'react';
import { Link } from 'wouter';
import { useWaitingNotes } from '../api/palace.ts';
import { useWords } from '../i18n/index.ts';
import { CopyButton } from '../shell/CopyButton.tsx';
import { useNoteWords } from './noteWords.ts';
import { usePalaceWords } from './words.ts';

/** The title of the window while a page is open. */
export function useTitle(name: string): void {
  const { palace } = usePalaceWords();
  useEffect(() => {
    if (name) document.title = `${name} · ${palace} · Liminal`;
  }, [name, palace]);
}

interface HeadProps {
  title: string;
  here: 'agents' | 'notes' | 'cost';
  lead: string;
  children?: ReactNode;
}

/** The head of the pages that stand beside each other. */
export function Head({ title, here, lead, children }: HeadProps) {
  const words = usePalaceWords();
  const noted = useNoteWords();
  const waits = useWaitingNotes(live);
  useTitle(title);
  return (
    <header className="palace-head">
      <div className="list-head">
        <h1>{title}</h1>
        <nav className="palace-parts" aria-label={words.parts}>
          <Link href="/operate/palace" aria-current={here === 'agents' ? 'page' : undefined}>
            {words.agents}
          </Link>
          <Link href="/operate/palace/notes" aria-current={here === 'notes' ? 'page' : undefined}>
            {noted.notes}
            {waits && (
              <b className="count" title={noted.waiting(waits.count)}>
                {waits.count}
                <span className="hidden">{noted.waiting(waits.count)}</span>
              </b>
            )}
          </Link>
          <Link href="/operate/palace/cost" aria-current={here === 'cost' ? 'page' : undefined}>
            {words.cost}
          </Link>
        </nav>
      </div>
      <p className="hint">{lead}</p>
      {children}
    </header>
  );
}

const live = 15_000; // how often it is asked what waits, while a page of these is open

/** Where a page stands, and the way back. */
export function Trail({ steps }: { steps: readonly (readonly [href: string, name: string])[] }) {
  const words = usePalaceWords();
  return (
    <nav className="trail" aria-label={words.parts}>
      <ol>
        {steps.map(([href, name]) => (
          <li key={href}>
            <Link href={href}>{name}</Link>
          </li>
        ))}
      </ol>
    </nav>
  );
}

const command = 'liminald palace run -- claude';

/** Says how to begin, to who has nothing yet. */
export function Empty() {
  const words = usePalaceWords();
  const shell = useWords();
  return (
    <div className="panel palace-empty">
      <p>{words.emptyBegin}</p>
      <p className="command">
        <code>{command}</code> <CopyButton text={command} label={shell.copy} />
      </p>
      <p>{words.emptyThen}</p>
    </div>
  );
}
