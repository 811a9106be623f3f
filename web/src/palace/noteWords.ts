// The words of proposed notes, which come with the palace's pages.

import { language, type Language } from '../i18n/index.ts';
import { useStore } from '../lib/store.ts';

const en = {
  notes: 'Notes',
  lead: 'What a model proposes to keep of histories that have ended. Nothing comes of a note before you keep it.',
  waiting: (n: string) => `${n} waiting for you`,
  stateOf: 'Notes shown',
  state: { proposed: 'Waiting', kept: 'Kept', dismissed: 'Dropped' },
  sources: 'Drawn from',
  request: (block: string) => `Request that block ${block} came in`,
  requestShort: 'Request',
  by: (model: string) => `proposed by ${model}`,
  keep: 'Keep',
  drop: 'Drop',
  keepAfterAll: 'Keep it after all',
  costs: (n: number, tokens: string, tiers: string) => (n === 1 ? `Keeping it makes its block Long: ${tokens} tokens stay for good. ${tiers}` : `Keeping it makes its ${n} blocks Long: ${tokens} tokens stay for good. ${tiers}`),
  now: (of: [tier: string, n: number][]) => `Now: ${of.map(([tier, n]) => `${n} ${tier}`).join(', ')}.`,
  costsNothing: (n: number) => (n === 1 ? 'Keeping it changes nothing: its block is Long already.' : `Keeping it changes nothing: its ${n} blocks are Long already.`),
  kept: (n: number) => (n === 1 ? 'Kept. Its block is Long by your word.' : `Kept. Its ${n} blocks are Long by your word.`),
  keptMore: 'Where a block is not to stay, its own page has the tiers.',
  dropped: 'Dropped. Nothing came of it.',
  noneWaits: 'No note waits for you.',
  noneKept: 'You have kept no note yet.',
  noneDropped: 'You have dropped no note.',
  on: (most: number) => `Once an hour a model reads what was said in histories of four requests or more that ended within the last three days: another one of the agent began, or none came for a day. It proposes ${most} notes of each at most.`,
  runs: 'Runs that asked it',
  off: 'No model proposes notes: notes.propose of your policy is off. To turn it on, put this into the policy:',
  unknown: 'A model proposes notes where notes.propose of the policy that holds for you (policy.palace) is on:',
  asked: 'Histories that begin after that are read when they have ended. The model is the one that classifier.model names, else the one for the role palace; it has to be on this machine, unless the policy says "remote": true.',
  policy: 'Open the policy',
  copy: 'Copy the setting',
  all: 'All notes',
};

export type NoteWords = typeof en;

const de: NoteWords = {
  notes: 'Notizen',
  lead: 'Was ein Modell von beendeten Verläufen aufzuheben vorschlägt. Aus einer Notiz wird nichts, bevor du sie behältst.',
  waiting: (n) => `${n} warten auf dich`,
  stateOf: 'Gezeigte Notizen',
  state: { proposed: 'Wartende', kept: 'Behaltene', dismissed: 'Verworfene' },
  sources: 'Entnommen aus',
  request: (block) => `Anfrage, in der Block ${block} kam`,
  requestShort: 'Anfrage',
  by: (model) => `vorgeschlagen von ${model}`,
  keep: 'Behalten',
  drop: 'Verwerfen',
  keepAfterAll: 'Doch behalten',
  costs: (n, tokens, tiers) => (n === 1 ? `Behalten gibt ihrem Block die Stufe Lang: ${tokens} Token bleiben für immer. ${tiers}` : `Behalten gibt ihren ${n} Blöcken die Stufe Lang: ${tokens} Token bleiben für immer. ${tiers}`),
  now: (of) => `Jetzt: ${of.map(([tier, n]) => `${n} ${tier}`).join(', ')}.`,
  costsNothing: (n) => (n === 1 ? 'Behalten ändert nichts: Ihr Block hat schon die Stufe Lang.' : `Behalten ändert nichts: Ihre ${n} Blöcke haben schon die Stufe Lang.`),
  kept: (n) => (n === 1 ? 'Behalten. Ihr Block hat auf dein Wort hin die Stufe Lang.' : `Behalten. Ihre ${n} Blöcke haben auf dein Wort hin die Stufe Lang.`),
  keptMore: 'Soll ein Block nicht bleiben: Seine Stufe steht auf seiner Seite.',
  dropped: 'Verworfen. Es wurde nichts aus ihr.',
  noneWaits: 'Keine Notiz wartet auf dich.',
  noneKept: 'Du hast noch keine Notiz behalten.',
  noneDropped: 'Du hast keine Notiz verworfen.',
  on: (most) => `Einmal in der Stunde liest ein Modell, was in Verläufen von vier Anfragen oder mehr gesagt wurde, die in den letzten drei Tagen endeten: Ein anderer des Agenten begann, oder einen Tag lang kam keine Anfrage. Es schlägt von jedem höchstens ${most} Notizen vor.`,
  runs: 'Läufe, die es fragten',
  off: 'Kein Modell schlägt Notizen vor: notes.propose deiner Richtlinie ist aus. Um es einzuschalten, gehört dies in die Richtlinie:',
  unknown: 'Ein Modell schlägt Notizen vor, wo notes.propose der Richtlinie, die für dich gilt (policy.palace), an ist:',
  asked: 'Verläufe, die danach beginnen, werden gelesen, wenn sie zu Ende sind. Gefragt wird das Modell, das classifier.model nennt, sonst das für die Rolle palace; es muss auf dieser Maschine sein, wenn die Richtlinie nicht "remote": true sagt.',
  policy: 'Die Richtlinie öffnen',
  copy: 'Die Einstellung kopieren',
  all: 'Alle Notizen',
};

const dictionaries: Record<Language, NoteWords> = { en, de };

export function useNoteWords(): NoteWords {
  return dictionaries[useStore(language)];
}
