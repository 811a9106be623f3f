import { useDeferredValue, useState } from 'react';
import { useContextName, useContexts, useContextsNamed } from '../api/queries.ts';
import type { Conversation } from '../api/types.ts';
import { notice } from '../chat/commands.ts';
import { sentence } from '../i18n/errors.ts';
import { useWords } from '../i18n/index.ts';
import { useStore } from '../lib/store.ts';
import { choose, chosenContext, contextOf } from './choice.ts';

/** How many contexts the list holds; of more, those are looked for by name. */
const listed = 100;

/**
 * Which documents answers may come from (UI-06). Nothing to choose between shows
 * nothing; of more than a list holds, the list has those whose names are looked
 * for. What is chosen may be none of the list, as one that was deleted
 * elsewhere: it is shown, so that another can be chosen.
 */
export function ContextChooser({ draftKey, conversation }: { draftKey: string; conversation: Conversation | null }) {
  const words = useWords();
  const contexts = useContexts();
  const chosen = useStore(chosenContext);
  const value = contextOf(chosen, draftKey, conversation);
  const [sought, seek] = useState('');
  const looked = useDeferredValue(sought);
  const found = useContextsNamed(looked);
  const all = contexts.data;
  const known = looked.trim() !== '' && found.data ? found.data : all;
  const unlisted = value !== '' && known !== undefined && !known.some((one) => one.id === value);
  const name = useContextName(value, unlisted);
  if (!all || !known || (all.length === 0 && value === '')) return null;
  return (
    <>
    {all.length >= listed && (
      <input
        type="search"
        className="chooser-search"
        aria-label={words.contextFind}
        placeholder={words.contextFind}
        value={sought}
        maxLength={200}
        onChange={(event) => seek(event.target.value)}
      />
    )}
    <select
      className="chooser"
      aria-label={words.context}
      title={words.context}
      value={value}
      onChange={(event) => {
        choose(draftKey, conversation, event.target.value).catch((error: unknown) => notice(draftKey, sentence(error)));
      }}
    >
      <option value="">{words.allDocuments}</option>
      {unlisted && <option value={value}>{name.data || words.contextUnlisted}</option>}
      {known.map((one) => (
        <option key={one.id} value={one.id}>
          {one.name}
        </option>
      ))}
    </select>
    </>
  );
}
