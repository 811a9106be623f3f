import type { CSSProperties } from 'react';
import { Link } from 'wouter';
import { useWords } from '../i18n/index.ts';
import { chosenWorkflow, chooseWorkflow } from '../knowledge/choice.ts';
import type { Surface } from '../knowledge/surface.ts';
import { newDraft } from '../lib/drafts.ts';
import { Icon } from '../shell/Icon.tsx';

interface Props {
  surface: Surface;
  draftKey: string;
  /** The workflow that the server keeps for the conversation. */
  kept?: string | undefined;
}

/** Whom one talks to, where the chosen workflow says so: its name, what it is for, and what becomes of the words (UI-31). */
export function SurfaceHead({ surface, draftKey, kept }: Props) {
  const words = useWords();
  return (
    <header className="surface-head" aria-label={surface.title}>
      <h2 className={surface.accent && 'marked'} style={surface.accent ? ({ '--mark': surface.accent } as CSSProperties) : undefined}>
        {surface.title}
      </h2>
      {draftKey !== newDraft && (
        <Link
          href="/"
          className="button"
          title={words.newWith(surface.title)}
          onClick={() => chooseWorkflow(newDraft, chosenWorkflow.get()[draftKey] ?? kept ?? '')} // the next one is with the same
        >
          <Icon name="plus" />
          {words.newConversation}
        </Link>
      )}
      {surface.tagline && <p>{surface.tagline}</p>}
      <p className="kept" title={words.keptLong}>
        <span aria-hidden="true">{words.kept}</span>
        <span className="hidden">{words.keptLong}</span>
      </p>
    </header>
  );
}
