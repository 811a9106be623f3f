// The words of how adapters reached a model, which come with the page of a run.

import { language, type Language } from '../i18n/index.ts';
import { useStore } from '../lib/store.ts';

const en = {
  adaptersApproximate: 'The adapters were put together approximately: the server merges several in a way of its own, so this answer is near to what they do together, and not the same.',
  adaptersLeft: 'Adapters the model did without',
  adapterLeftFor: (reason: string): string =>
    ({
      adapter_filtered_by_mode: 'this model takes no adapters of its kind',
      over_cap: 'this model takes no more at once',
      no_weight: 'its gate is closed',
      no_remote_id: 'the server has no name for it',
      nothing_to_apply: 'it has nothing that this model could use',
      weights_of_others: 'the server takes one adapter, and another is it',
      weights_refused: 'its weights are damaged or of another model, or the server does not take them; what it says in words, if anything, was told',
      rank_too_high: 'its weights do not fit in beside the others; what it says in words, if anything, was told',
    })[reason] ?? reason,
};

type AdapterWords = typeof en;

const de: AdapterWords = {
  adaptersApproximate: 'Die Adapter wurden nur näherungsweise zusammengefügt: Der Server verbindet mehrere auf seine Weise; die Antwort ist also dem nahe, was sie zusammen tun, und nicht dasselbe.',
  adaptersLeft: 'Adapter, ohne die das Modell auskam',
  adapterLeftFor: (reason) =>
    ({
      adapter_filtered_by_mode: 'dieses Modell nimmt keine Adapter dieser Art',
      over_cap: 'dieses Modell nimmt nicht mehr auf einmal',
      no_weight: 'sein Gewicht ist null',
      no_remote_id: 'der Server hat keinen Namen dafür',
      nothing_to_apply: 'er hat nichts, was dieses Modell benutzen könnte',
      weights_of_others: 'der Server nimmt einen Adapter, und das ist ein anderer',
      weights_refused: 'seine Gewichte sind beschädigt oder von einem anderen Modell, oder der Server nimmt sie nicht; was er in Worten sagt, wenn er das tut, wurde gesagt',
      rank_too_high: 'seine Gewichte passen neben die anderen nicht hinein; was er in Worten sagt, wenn er das tut, wurde gesagt',
    })[reason] ?? reason,
};

const dictionaries: Record<Language, AdapterWords> = { en, de };

export function useAdapterWords(): AdapterWords {
  return dictionaries[useStore(language)];
}
