// The words of Operate → Models, which only that page loads.

import { language, type Language } from '../i18n/index.ts';
import { useStore } from '../lib/store.ts';

const en = {
  title: 'Model backends',
  lead: 'What answers. A backend that you add here is there at once, in every process, and its key is sealed: nobody can read it again.',
  add: 'Add a backend',
  addTitle: 'Add a model backend',
  editTitle: (name: string) => `Change ${name}`,
  save: 'Save',
  test: 'Test',
  testing: 'Asking…',
  edit: 'Change',
  remove: 'Remove',
  removeThis: (name: string) => `Remove ${name}? Its key is gone for good. Conversations that chose it are told so, and policies and graphs that name it.`,
  makeDefault: 'Make it the default',
  isDefault: 'Default',
  choosable: 'People may choose it',
  fixed: 'From the environment, not changeable here',
  name: 'Name',
  nameNote: 'Small letters, digits and . _ -. Policies and graphs name it so; it does not change.',
  shown: 'Title',
  shownNote: 'What people see.',
  protocol: 'Protocol',
  url: 'URL of the server',
  urlNote: (usual: string) => (usual ? `Left empty: ${usual}` : 'Up to and with /v1.'),
  usual: 'the usual server',
  model: 'Model',
  modelNote: 'Asked where nothing names another. Empty: what policy.models names, or the server’s choice.',
  serverChoice: 'the server’s choice',
  models: 'Models by tier',
  modelsNote: 'One a line: small = name. Tiers are those of policy.models.',
  version: 'API version',
  key: 'Key',
  keyNote: 'Sealed, and never shown again.',
  keyKeep: (end: string) => (end ? `Set, ends in …${end}. Left empty: it stays.` : 'Set. Left empty: it stays.'),
  keyForget: 'Forget the key',
  keySet: (end: string) => (end ? `set, ends in …${end}` : 'set'),
  keyNone: 'none',
  keyMoves: 'Another server is not sent the key of this one: give it again.',
  tokens: 'Longest answer, in tokens',
  tokensNote: '0: no bound of its own.',
  price: 'Price, US dollars a million tokens',
  priceIn: 'Read',
  priceOut: 'Written',
  priceNote: 'Empty: as far as the program knows one.',
  priceSays: (input: string, output: string) => `$${input} read, $${output} written`,
  answered: (model: string, seconds: string) => `${model} answered in ${seconds} s`,
  has: (n: number) => (n === 1 ? 'The server lists 1 model.' : `The server lists ${n} models.`),
  changes: 'What was done',
  changesNone: 'Nothing yet.',
  gone: 'somebody who is gone',
  did: (who: string, action: string, backend: string, fields: string) => {
    if (action === 'added') return `${who} added ${backend}`;
    if (action === 'removed') return `${who} removed ${backend}`;
    if (action === 'default') return `${who} made ${backend} the default`;
    return `${who} changed ${backend}: ${fields}`;
  },
  field: (name: string): string =>
    ({
      title: 'title',
      protocol: 'protocol',
      url: 'URL',
      model: 'model',
      models: 'models by tier',
      api_version: 'API version',
      api_key: 'key',
      max_tokens: 'longest answer',
      price: 'price',
      choosable: 'whether people may choose it',
    })[name] ?? name,
};

type BackendWords = typeof en;

const de: BackendWords = {
  title: 'Modelle und ihre Server',
  lead: 'Was antwortet. Ein Server, den du hier hinzufügst, ist sofort da, in jedem Prozess. Sein Schlüssel wird versiegelt: Niemand kann ihn wieder lesen.',
  add: 'Hinzufügen',
  addTitle: 'Einen Modellserver hinzufügen',
  editTitle: (name) => `${name} ändern`,
  save: 'Speichern',
  test: 'Prüfen',
  testing: 'Wird gefragt…',
  edit: 'Ändern',
  remove: 'Entfernen',
  removeThis: (name) => `${name} entfernen? Der Schlüssel ist dann endgültig weg. Unterhaltungen, die ihn gewählt haben, erfahren es, ebenso Regeln und Abläufe, die ihn nennen.`,
  makeDefault: 'Zum Standard machen',
  isDefault: 'Standard',
  choosable: 'Alle dürfen ihn wählen',
  fixed: 'Aus der Umgebung, hier nicht zu ändern',
  name: 'Name',
  nameNote: 'Kleine Buchstaben, Ziffern und . _ -. So nennen ihn Regeln und Abläufe; er bleibt, wie er ist.',
  shown: 'Titel',
  shownNote: 'Was alle sehen.',
  protocol: 'Protokoll',
  url: 'Adresse des Servers',
  urlNote: (usual) => (usual ? `Leer gelassen: ${usual}` : 'Bis einschließlich /v1.'),
  usual: 'der übliche Server',
  model: 'Modell',
  modelNote: 'Wird gefragt, wo nichts ein anderes nennt. Leer: was policy.models nennt, oder die Wahl des Servers.',
  serverChoice: 'die Wahl des Servers',
  models: 'Modelle nach Stufe',
  modelsNote: 'Eines je Zeile: small = Name. Die Stufen sind die von policy.models.',
  version: 'Version der API',
  key: 'Schlüssel',
  keyNote: 'Wird versiegelt und nie wieder gezeigt.',
  keyKeep: (end) => (end ? `Gesetzt, endet auf …${end}. Leer gelassen: Er bleibt.` : 'Gesetzt. Leer gelassen: Er bleibt.'),
  keyForget: 'Den Schlüssel vergessen',
  keySet: (end) => (end ? `gesetzt, endet auf …${end}` : 'gesetzt'),
  keyNone: 'keiner',
  keyMoves: 'Ein anderer Server bekommt den Schlüssel dieses einen nicht: Gib ihn noch einmal ein.',
  tokens: 'Längste Antwort, in Tokens',
  tokensNote: '0: keine eigene Grenze.',
  price: 'Preis, US-Dollar je Million Tokens',
  priceIn: 'Gelesen',
  priceOut: 'Geschrieben',
  priceNote: 'Leer: soweit das Programm einen kennt.',
  priceSays: (input, output) => `${input} $ gelesen, ${output} $ geschrieben`,
  answered: (model, seconds) => `${model} hat in ${seconds} s geantwortet`,
  has: (n) => (n === 1 ? 'Der Server nennt 1 Modell.' : `Der Server nennt ${n} Modelle.`),
  changes: 'Was geschehen ist',
  changesNone: 'Noch nichts.',
  gone: 'jemand, der nicht mehr da ist',
  did: (who, action, backend, fields) => {
    if (action === 'added') return `${who} hat ${backend} hinzugefügt`;
    if (action === 'removed') return `${who} hat ${backend} entfernt`;
    if (action === 'default') return `${who} hat ${backend} zum Standard gemacht`;
    return `${who} hat ${backend} geändert: ${fields}`;
  },
  field: (name) =>
    ({
      title: 'Titel',
      protocol: 'Protokoll',
      url: 'Adresse',
      model: 'Modell',
      models: 'Modelle nach Stufe',
      api_version: 'Version der API',
      api_key: 'Schlüssel',
      max_tokens: 'längste Antwort',
      price: 'Preis',
      choosable: 'ob alle ihn wählen dürfen',
    })[name] ?? name,
};

const dictionaries: Record<Language, BackendWords> = { en, de };

export function useBackendWords(): BackendWords {
  return dictionaries[useStore(language)];
}
