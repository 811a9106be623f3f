// The words of what a rehearsal of a policy of views showed, which come with its page.

import { language, type Language } from '../i18n/index.ts';
import { useStore } from '../lib/store.ts';

const en = {
  viewDiffer: 'Histories that differ',
  viewEpochs: 'Epochs',
  viewResults: 'Results set aside',
  viewTokens: 'Tokens of them',
  viewRegret: 'Of them needed again',
  viewInvalid: 'Requests a backend would refuse',
  viewThinking: 'Tokens of thinking no longer valid',
  viewCost: 'Cost',
  viewRange: (low: string, high: string): string => `The new cost lies between ${low} and ${high}, by how far the model of the cache was off on these histories.`,
  viewUntold: 'How far the cost may be off cannot be told: the model of the cache was not measured on all of these histories, or was off by more than a tenth.',
  viewAsView: 'Neither version changes what agents are sent. Both were played as if they did.',
};

type ViewWords = typeof en;

const de: ViewWords = {
  viewDiffer: 'Verläufe, die sich unterscheiden',
  viewEpochs: 'Epochen',
  viewResults: 'Beiseitegelegte Ergebnisse',
  viewTokens: 'Deren Tokens',
  viewRegret: 'Davon wieder gebraucht',
  viewInvalid: 'Anfragen, die ein Backend ablehnen würde',
  viewThinking: 'Tokens von Gedanken, die nicht mehr gelten',
  viewCost: 'Kosten',
  viewRange: (low, high) => `Die neuen Kosten liegen zwischen ${low} und ${high}; so weit lag das Modell des Caches bei diesen Verläufen daneben.`,
  viewUntold: 'Wie weit die Kosten danebenliegen können, lässt sich nicht sagen: Das Modell des Caches wurde nicht bei allen diesen Verläufen gemessen oder lag um mehr als ein Zehntel daneben.',
  viewAsView: 'Keine der beiden Fassungen ändert, was Agenten geschickt bekommen. Beide wurden durchgespielt, als täten sie es.',
};

const dictionaries: Record<Language, ViewWords> = { en, de };

/** The words in the language that was chosen. */
export function useViewWords(): ViewWords {
  return dictionaries[useStore(language)];
}
