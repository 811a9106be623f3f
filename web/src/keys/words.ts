// The words of the page Access keys, which come with it.

import { language, type Language } from '../i18n/index.ts';
import { useStore } from '../lib/store.ts';
import type { Scope } from './scopes.ts';

const en = {
  lead: 'A program that has an access key acts for you, within what the key opens. It needs no password of yours, and you can end it at any time.',
  loadFailed: 'Your access keys could not be loaded.',
  none: 'You have no access keys.',
  make: 'New access key',
  name: 'What it is for',
  namePlaceholder: 'nightly report',
  opens: 'What it opens',
  opensNothing: 'Pick at least one thing it opens.',
  scope: {
    chat: ['Chat', 'ask, and answer questions of its own runs'],
    read: ['Read', 'conversations, documents, files, runs'],
    write: ['Write', 'upload, change and delete files, contexts, documents, conversations'],
    tools: ['Tools', 'tools that change something, by themselves or in a run'],
    artifacts: ['Artifacts', 'your own workflows, policies and tools'],
    propose: ['Propose', 'propose changes; deciding and applying them stays with people'],
    mcp: ['MCP', 'the Model Context Protocol'],
    webhooks: ['Webhooks', 'webhooks of its own, which end with the key'],
    admin: ['Administration', 'usage, plans, backends, the log; never people, secrets or decisions'],
  } satisfies Record<Scope, [string, string]> as Record<Scope, [string, string]>,
  assistants: 'Only these assistants',
  assistantsHint: 'Names of workflows, with commas between. Empty: all you may use.',
  days: 'Good for',
  daysOf: (n: number) => `${n} days`,
  makeIt: 'Make the key',
  factor: 'Your account has a second factor, so a key needs a code.',
  once: 'This is the key. It is shown this once: copy it to where the program finds it.',
  copy: 'Copy the key',
  kept: 'I have copied it',
  until: (day: string) => `good until ${day}`,
  ran: (day: string) => `ran out on ${day}`,
  ended: (day: string) => `ended on ${day}`,
  used: (when: string) => `used ${when}`,
  never: 'never used',
  only: (names: string) => `only for ${names}`,
  signedIn: 'signed in by the program; over MCP only',
  end: 'End',
  endOf: (name: string) => `End the key “${name}”`,
  endAsk: (name: string) => `End “${name}”? Programs that use it stop at once, and what they began does nothing more.`,
  past: (n: number) => (n === 1 ? '1 key that has ended' : `${n} keys that have ended`),
  how: 'How a program sends it',
};

export type KeyWords = typeof en;

const de: KeyWords = {
  lead: 'Ein Programm mit einem Zugangsschlüssel handelt in deinem Namen, soweit der Schlüssel reicht. Es braucht kein Passwort von dir, und du kannst ihn jederzeit beenden.',
  loadFailed: 'Deine Zugangsschlüssel konnten nicht geladen werden.',
  none: 'Du hast keine Zugangsschlüssel.',
  make: 'Neuer Zugangsschlüssel',
  name: 'Wofür er ist',
  namePlaceholder: 'nächtlicher Bericht',
  opens: 'Was er öffnet',
  opensNothing: 'Wähle mindestens eins, das er öffnet.',
  scope: {
    chat: ['Chat', 'fragen, und Fragen der eigenen Läufe beantworten'],
    read: ['Lesen', 'Unterhaltungen, Dokumente, Dateien, Läufe'],
    write: ['Schreiben', 'Dateien, Kontexte, Dokumente, Unterhaltungen anlegen, ändern und löschen'],
    tools: ['Werkzeuge', 'Werkzeuge, die etwas ändern, für sich oder in einem Lauf'],
    artifacts: ['Artefakte', 'deine eigenen Abläufe, Regeln und Werkzeuge'],
    propose: ['Vorschlagen', 'Änderungen vorschlagen; entschieden und angewandt werden sie von Menschen'],
    mcp: ['MCP', 'das Model Context Protocol'],
    webhooks: ['Webhooks', 'eigene Webhooks, die mit dem Schlüssel enden'],
    admin: ['Verwaltung', 'Nutzung, Tarife, Backends, das Protokoll; nie Personen, Geheimnisse oder Entscheidungen'],
  },
  assistants: 'Nur diese Assistenten',
  assistantsHint: 'Namen von Abläufen, mit Kommas dazwischen. Leer: alle, die du nutzen darfst.',
  days: 'Gilt für',
  daysOf: (n) => `${n} Tage`,
  makeIt: 'Schlüssel anlegen',
  factor: 'Dein Konto hat einen zweiten Faktor, deshalb braucht ein Schlüssel einen Code.',
  once: 'Das ist der Schlüssel. Er wird nur dieses eine Mal gezeigt: Kopiere ihn dorthin, wo das Programm ihn findet.',
  copy: 'Schlüssel kopieren',
  kept: 'Ich habe ihn kopiert',
  until: (day) => `gilt bis ${day}`,
  ran: (day) => `abgelaufen am ${day}`,
  ended: (day) => `beendet am ${day}`,
  used: (when) => `benutzt ${when}`,
  never: 'nie benutzt',
  only: (names) => `nur für ${names}`,
  signedIn: 'vom Programm angemeldet; nur über MCP',
  end: 'Beenden',
  endOf: (name) => `Den Schlüssel „${name}“ beenden`,
  endAsk: (name) => `„${name}“ beenden? Programme, die ihn nutzen, hören sofort auf, und was sie begonnen haben, tut nichts mehr.`,
  past: (n) => (n === 1 ? '1 Schlüssel, der nicht mehr gilt' : `${n} Schlüssel, die nicht mehr gelten`),
  how: 'So sendet ihn ein Programm',
};

const dictionaries: Record<Language, KeyWords> = { en, de };

export function useKeyWords(): KeyWords {
  return dictionaries[useStore(language)];
}
