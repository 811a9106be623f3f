// The words of the overview, of what waits, and of assistants with a page of
// their own, which come with them.

import './surfaces.css';
import { language, type Language } from '../i18n/index.ts';
import { useStore } from '../lib/store.ts';

const en = {
  overview: 'Overview',
  inbox: 'Inbox',
  inboxLead: 'What waits for you, wherever it is.',
  waiting: (n: number) => (n === 1 ? '1 thing waits for you' : `${n} things wait for you`),
  empty: 'Nothing waits for you.',
  question: 'A question in a conversation',
  runQuestion: 'A question of a run',
  decision: 'A proposed change to decide on',
  program: 'Calls of a program’s own tools',
  lesson: 'Something learnt from you, to decide on',
  notes: 'What a model proposes to keep of your agents’ histories',
  notesWait: (n: string) => (n === '1' ? '1 note waits for you' : `${n} notes wait for you`),
  answer: 'Answer',
  decide: 'Decide',
  look: 'Open',
  programsTitle: 'Waiting for programs',
  programsLead: 'The program that asked answers these by itself, later too. You can skip them in the conversation.',
  sharedTitle: 'Shared with me',
  sharedNone: 'Nobody shares anything with you.',
  kinds: { context: 'Context', document_set: 'Document set', artifact: 'Artifact' },
  from: (who: string) => `from ${who}`,
  mayAdd: 'you may add to it',
  showMore: 'Show more',
  fresh: 'New conversation',
  here: 'Conversation lives in this browser only.',
  hereLong: 'Conversation lives in this browser only. The server keeps nothing of it; it is gone when you sign out, or begin a new one.',
  told: 'Understood',
  toldLabel: (title: string) => `Before you write to ${title}`,
};

type Dictionary = typeof en;

const de: Dictionary = {
  overview: 'Übersicht',
  inbox: 'Inbox',
  inboxLead: 'Was auf dich wartet, wo es auch ist.',
  waiting: (n) => (n === 1 ? '1 Sache wartet auf dich' : `${n} Sachen warten auf dich`),
  empty: 'Nichts wartet auf dich.',
  question: 'Eine Frage in einer Unterhaltung',
  runQuestion: 'Eine Frage eines Laufs',
  decision: 'Ein Änderungsvorschlag zu entscheiden',
  program: 'Aufrufe eigener Werkzeuge eines Programms',
  lesson: 'Etwas von dir Gelerntes zu entscheiden',
  notes: 'Was ein Modell von den Verläufen deiner Agenten aufzuheben vorschlägt',
  notesWait: (n) => (n === '1' ? '1 Notiz wartet auf dich' : `${n} Notizen warten auf dich`),
  answer: 'Antworten',
  decide: 'Entscheiden',
  look: 'Öffnen',
  programsTitle: 'Wartet auf Programme',
  programsLead: 'Das Programm, das gefragt hat, antwortet von selbst, auch später. In der Unterhaltung kannst du sie überspringen.',
  sharedTitle: 'Mit mir geteilt',
  sharedNone: 'Niemand teilt etwas mit dir.',
  kinds: { context: 'Sammlung', document_set: 'Dokumentsatz', artifact: 'Artefakt' },
  from: (who) => `von ${who}`,
  mayAdd: 'du darfst etwas dazulegen',
  showMore: 'Mehr zeigen',
  fresh: 'Neue Unterhaltung',
  here: 'Die Unterhaltung liegt nur in diesem Browser.',
  hereLong: 'Die Unterhaltung liegt nur in diesem Browser. Der Server behält nichts davon; sie ist fort, wenn du dich abmeldest oder eine neue beginnst.',
  told: 'Verstanden',
  toldLabel: (title) => `Bevor du ${title} schreibst`,
};

const dictionaries: Record<Language, Dictionary> = { en, de };

export function useSurfaceWords(): Dictionary {
  return dictionaries[useStore(language)];
}
