import { useContexts } from '../api/queries.ts';
import type { Conversation } from '../api/types.ts';
import { notice } from '../chat/commands.ts';
import { sentence } from '../i18n/errors.ts';
import { useWords } from '../i18n/index.ts';
import { useStore } from '../lib/store.ts';
import { choose, chosenContext, contextOf } from './choice.ts';

/**
 * Which documents answers may come from (UI-06). Nothing to choose between shows
 * nothing. What is chosen may be none of the list, as one that was deleted
 * elsewhere: it is shown, so that another can be chosen.
 */
export function ContextChooser({ draftKey, conversation }: { draftKey: string; conversation: Conversation | null }) {
  const words = useWords();
  const contexts = useContexts();
  const chosen = useStore(chosenContext);
  const value = contextOf(chosen, draftKey, conversation);
  const known = contexts.data;
  if (!known || (known.length === 0 && value === '')) return null;
  return (
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
      {value !== '' && !known.some((one) => one.id === value) && <option value={value}>{words.contextUnlisted}</option>}
      {known.map((one) => (
        <option key={one.id} value={one.id}>
          {one.name}
        </option>
      ))}
    </select>
  );
}
