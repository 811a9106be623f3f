import { useQuery } from '@tanstack/react-query';
import { ask } from '../api/ask.ts';
import type { Conversation } from '../api/types.ts';
import { notice } from '../chat/commands.ts';
import { sentence } from '../i18n/errors.ts';
import { language, useWords, type Language } from '../i18n/index.ts';
import { useStore } from '../lib/store.ts';
import { backendOf, chooseBackend, chosenBackend } from './choice.ts';

const en = {
  model: 'Model',
  standard: (name: string) => `Default: ${name}`,
  unlisted: (name: string) => `${name} (not offered any more)`,
};
const de: typeof en = {
  model: 'Modell',
  standard: (name) => `Standard: ${name}`,
  unlisted: (name) => `${name} (nicht mehr im Angebot)`,
};
const dictionaries: Record<Language, typeof en> = { en, de };

/** The model backends a person may choose; none while there is nothing to choose. */
function useBackends() {
  return useQuery({
    queryKey: ['backends', 'options'],
    queryFn: async ({ signal }) => (await ask('backendOptions', { signal })).data,
    staleTime: 60_000,
  }).data;
}

/**
 * Which model answers. Nothing to choose shows nothing; a choice that is not
 * offered any more is shown, so that another can be made.
 */
export default function BackendChooser({ draftKey, conversation }: { draftKey: string; conversation: Conversation | null }) {
  const words = useWords();
  const own = dictionaries[useStore(language)];
  const offered = useBackends();
  const value = backendOf(useStore(chosenBackend), draftKey, conversation);
  if (!offered || (offered.length === 0 && value === '')) return null;
  const standard = offered.find((one) => one.is_default);
  return (
    <select
      className="chooser"
      aria-label={own.model}
      title={own.model}
      value={value}
      onChange={(event) => {
        chooseBackend(draftKey, conversation, event.target.value).catch((error: unknown) => notice(draftKey, sentence(error)));
      }}
    >
      <option value="">{standard ? own.standard(standard.title) : words.automatic}</option>
      {value !== '' && !offered.some((one) => one.name === value) && <option value={value}>{own.unlisted(value)}</option>}
      {offered.map(
        (one) =>
          (!one.is_default || one.name === value) && (
            <option key={one.name} value={one.name}>
              {one.title}
            </option>
          ),
      )}
    </select>
  );
}
