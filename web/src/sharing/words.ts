// The words of what is shared, which come with it.

import { language, type Language } from '../i18n/index.ts';
import { useStore } from '../lib/store.ts';

const en = {
  title: 'Shared with',
  nobody: 'Nobody but you has this.',
  who: 'With whom',
  whoHint: 'The address or the name they sign in with, exactly as it is.',
  everyone: 'Everybody of this tenant',
  write: 'They may add to it, too',
  share: 'Share',
  reads: 'reads',
  adds: 'reads and adds',
  takeBack: 'Take back',
  takeBackFrom: (who: string) => `Take back from ${who}`,
  takeBackAsk: (who: string) => `Take it back from ${who}? They read nothing of it any more, at once. What they have added stays.`,
  everybody: 'everybody of this tenant',
  from: (who: string) => `${who} shares this with you.`,
  fromAdds: (who: string) => `${who} shares this with you; you may add to it.`,
  leave: 'Let go of it',
  leaveAsk: 'Let go of this? It is no longer among what you can use, until it is shared with you again.',
  failed: 'With whom this is shared could not be loaded.',
};

export type ShareWords = typeof en;

const de: ShareWords = {
  title: 'Geteilt mit',
  nobody: 'Niemand außer dir hat das.',
  who: 'Mit wem',
  whoHint: 'Die Adresse oder der Name, mit dem die Person sich anmeldet, genau so.',
  everyone: 'Alle in diesem Mandanten',
  write: 'Sie dürfen auch hinzufügen',
  share: 'Teilen',
  reads: 'liest',
  adds: 'liest und fügt hinzu',
  takeBack: 'Zurücknehmen',
  takeBackFrom: (who) => `Von ${who} zurücknehmen`,
  takeBackAsk: (who) => `Von ${who} zurücknehmen? Ab sofort ist davon nichts mehr zu lesen. Was hinzugefügt wurde, bleibt.`,
  everybody: 'alle in diesem Mandanten',
  from: (who) => `${who} teilt das mit dir.`,
  fromAdds: (who) => `${who} teilt das mit dir; du darfst hinzufügen.`,
  leave: 'Nicht mehr nutzen',
  leaveAsk: 'Nicht mehr nutzen? Es gehört dann nicht mehr zu dem, was du nutzen kannst, bis es wieder mit dir geteilt wird.',
  failed: 'Mit wem das geteilt ist, konnte nicht geladen werden.',
};

const dictionaries: Record<Language, ShareWords> = { en, de };

export function useShareWords(): ShareWords {
  return dictionaries[useStore(language)];
}
