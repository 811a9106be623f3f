// The words of the page Learning, which come with it.

import { language, type Language } from '../i18n/index.ts';
import { useStore } from '../lib/store.ts';
import type { Learning, Lesson, LearningEvent } from '../api/learning.ts';
import type { PatchStatus } from '../api/types.ts';
import type { Standing, Trial } from './standing.ts';

/** What there is of something; nothing where there is none. */
function some(n: number, one: string, more: (n: number) => string): string[] {
  return n === 0 ? [] : [n === 1 ? one : more(n)];
}

const en = {
  lead: 'From your thumbs and notes Liminal learns how you want to be answered. Here is what it learnt, and all of it is yours to change.',
  loadFailed: 'What was learnt could not be loaded.',
  off: 'Learning is switched off on this server. Your thumbs and notes are kept, but nothing is learnt from them, and nothing that was learnt is followed.',
  paused: 'You have switched learning off. Nothing is learnt, and nothing that was learnt is followed.',

  // Learn now
  waiting: (n: number) => (n === 0 ? 'All your feedback has been read.' : n === 1 ? '1 thumb or note of yours waits to be read.' : `${n} thumbs and notes of yours wait to be read.`),
  nothingSaid: 'You have not said anything of an answer yet.',
  waitingWhen: 'They are read by themselves: after three notes, after five thumbs, or some hours later.',
  learnNow: 'Learn now',
  learning: 'Learning…',
  learningStep: (what: string) => `Learning… ${what}`,
  lastRun: 'Last learnt:',
  learntNew: (n: number) => (n === 0 ? 'Done. There was nothing new to learn; notes that say why help most.' : n === 1 ? 'Done. 1 lesson is new.' : `Done. ${n} lessons are new.`),
  learnFailed: 'It did not work out.',
  learnStopped: 'It was stopped.',
  seeRun: 'The run, step by step',

  // What I learnt
  learnt: 'What I learnt',
  emptyTitle: 'Nothing has been learnt yet.',
  emptySteps: [
    'Press the thumb below an answer.',
    'Add a note that says why: “too long”, “as a list, please”, “answer in German”.',
    'After three notes it says here what follows from them. You can reword it, or switch it off.',
  ],
  emptyWaits: 'What you said has not been read yet.',
  toChat: 'To the conversation',
  allAnswers: 'For all answers',
  inSituation: (label: string) => `When it is about: ${label}`,
  unnamed: 'a situation without a name',
  standing: (standing: Standing) =>
    ({
      followed: 'Followed',
      unable: 'Not followed: answers that only quote cannot; a language model can',
      checked: 'Being checked',
      waits: 'Waits for your decision',
      refused: 'Not followed: you decided against it',
      undone: 'Not followed: you took it back',
      off: 'Switched off',
      rejected: 'Not followed: it was tried, and answers got worse',
      paused: 'Not followed: learning is off',
      later: 'Not followed yet: that comes the next time it learns',
    })[standing],
  madeBy: (by: Lesson['made_by']) => ({ rule: 'read from what you said', model: 'put into words by the model', person: 'in your words' })[by],
  reword: 'Reword',
  rewordThis: (text: string) => `Reword “${text}”`,
  rewordLabel: 'How you want to be answered',
  forget: 'Forget',
  forgetThis: (text: string) => `Forget “${text}”`,
  forgetAsk: (text: string) => `Forget “${text}”? Answers no longer follow it. What you said stays, so it may be learnt again; to prevent that, switch it off instead.`,
  forgotten: 'Forgotten.',
  reworded: 'Reworded.',
  sources: ({ notes, thumbs }: { notes: number; thumbs: number }) => {
    const parts = [notes > 0 && (notes === 1 ? '1 note' : `${notes} notes`), thumbs > 0 && (thumbs === 1 ? '1 thumb' : `${thumbs} thumbs`)];
    return `From ${parts.filter(Boolean).join(' and ')}`;
  },
  signal: (signal: LearningEvent['signal']) => ({ like: 'Good answer', dislike: 'Bad answer', always: 'Always like this', never: 'Never like this' })[signal],
  corrected: 'You wrote what it should have said.',
  noNote: 'Without a note.',
  openConversation: 'The conversation',
  exclude: 'Leave out',
  excludeThis: (what: string) => `Leave out “${what}”`,
  include: 'Take in again',
  includeThis: (what: string) => `Take in again “${what}”`,
  excluded: 'Left out: nothing is learnt from it.',

  // How it came to be followed
  change: (status: PatchStatus, byRule: boolean): string =>
    ({
      pending: 'Being checked.',
      approved: 'About to be put to use.',
      applied: byRule ? 'Put to use without asking, as you allow it.' : 'Put to use, as you decided.',
      rejected: 'You decided against it.',
      rolled_back: 'You took it back.',
      invalid: 'It did not pass its checks, and nothing came of it.',
      expired: 'Nobody decided in time, and nothing came of it.',
      withdrawn: 'Withdrawn, and nothing came of it.',
      superseded: 'A later one took its place.',
    })[status],
  trial: (trial: Trial): string => {
    if (trial === 'no model') return 'Not tried: no language model is configured.';
    if (trial === 'too little') return 'Not tried: you have not said enough for that yet.';
    return `Tried on ${trial.held} questions of yours: ${trial.better} answers better, ${trial.worse} worse, ${trial.alike} alike.`;
  },
  undo: 'Undo',
  undoThis: (where: string) => `Undo what was put to use: ${where}`,
  undoReason: 'Undone on the page Learning.',
  undone: 'Undone. Answers are as before.',
  waitsForYou: 'Waits for your decision.',
  decide: 'Look at it, and decide',
  details: 'The change in full',

  // Situations
  situations: 'Situations',
  situationsLead: 'What your questions come back to. A lesson may be for one of them alone.',
  situationsNone: 'None has been found yet. That takes five answers at least that you have rated, about the same kind of thing.',
  situationsFailed: 'The situations could not be loaded.',
  size: (n: number) => (n === 1 ? '1 rated answer' : `${n} rated answers`),
  rename: 'Rename',
  renameOf: (label: string) => `Rename “${label}”`,
  name: 'Name',
  sentence: 'In a sentence',
  save: 'Save',
  merge: 'Merge',
  mergeOf: (label: string) => `Merge “${label}”`,
  mergeInto: 'Into',
  mergeMeans: 'Both become one, and stay one from then on.',
  merged: 'Merged.',
  notOne: 'Not a situation',
  notOneOf: (label: string) => `“${label}” is not a situation`,
  notOneAsk: (label: string) => `Let go of “${label}”? Lessons for it alone are no longer followed. What you said stays.`,
  letGo: 'Let go',
  wentAway: 'It is no longer a situation.',
  renamed: 'Renamed.',
  what: 'What it is made of',
  whatOf: (label: string) => `What “${label}” is made of`,
  pick: (what: string) => `Pick “${what}”`,
  split: (n: number) => (n === 0 ? 'Split off what you pick' : n === 1 ? 'Split 1 off' : `Split ${n} off`),
  splitAll: 'Leave at least one.',
  splitDone: 'Noted: these do not belong here. They go their own way the next time it learns.',
  nothingIn: 'Nothing is in it any more.',
  everybody: 'Situations of everybody',
  everybodyMeans: 'Found with the feedback of people who allow it, shown from five people up.',

  // What is allowed
  allowed: 'What you allow',
  personal: 'Learn from what I say of answers',
  personalMeans: 'Off: nothing is learnt, and nothing that was learnt is followed. It stays here until you forget it.',
  byRuleMay: 'Change my answers without asking',
  byRuleMeans: 'Where a trial shows that answers get better, or where nothing could be tried, a change counts at once, with Undo beside it. Off: each waits for your decision.',
  shared: 'Let my feedback help find situations of everybody',
  sharedMeans: 'Only where five people or more come back to the same thing. Nobody reads your words.',

  // Forget everything
  forgetAll: 'Forget everything',
  forgetAllMeans: 'Your conversations stay. All that you said of answers goes, and all that was learnt from it.',
  forgetAllTitle: 'Forget everything that was learnt?',
  forgetAllGoes: 'This goes for good:',
  goes: ({ lessons, adapters }: Pick<Learning, 'lessons' | 'adapters'>, situations: number) => [
    'every thumb and note under your answers',
    ...some(lessons.length, '1 lesson', (n) => `${n} lessons`),
    ...some(situations, '1 situation', (n) => `${n} situations`),
    ...some(adapters.length, '1 adapter, which carried them', (n) => `${n} adapters, which carried them`),
  ],
  stays: 'Your conversations and documents stay, and so does what you allow.',
  forgotAll: (n: number) => (n === 1 ? 'Forgotten, with 1 thumb or note.' : `Forgotten, with ${n} thumbs and notes.`),
};

export type LearningWords = typeof en;

const de: LearningWords = {
  lead: 'Aus deinen Daumen und Notizen lernt Liminal, wie du Antworten haben willst. Hier steht, was es gelernt hat, und alles davon kannst du ändern.',
  loadFailed: 'Was gelernt wurde, konnte nicht geladen werden.',
  off: 'Das Lernen ist auf diesem Server abgeschaltet. Deine Daumen und Notizen werden behalten, aber es wird nichts daraus gelernt, und nichts Gelerntes wird befolgt.',
  paused: 'Du hast das Lernen abgeschaltet. Es wird nichts gelernt, und nichts Gelerntes wird befolgt.',

  waiting: (n) => (n === 0 ? 'Alle deine Rückmeldungen sind gelesen.' : n === 1 ? '1 Daumen oder Notiz von dir wartet darauf, gelesen zu werden.' : `${n} Daumen und Notizen von dir warten darauf, gelesen zu werden.`),
  nothingSaid: 'Du hast noch zu keiner Antwort etwas gesagt.',
  waitingWhen: 'Das geschieht von selbst: nach drei Notizen, nach fünf Daumen oder einige Stunden später.',
  learnNow: 'Jetzt lernen',
  learning: 'Lernt…',
  learningStep: (what) => `Lernt… ${what}`,
  lastRun: 'Zuletzt gelernt:',
  learntNew: (n) => (n === 0 ? 'Fertig. Es gab nichts Neues zu lernen; am meisten helfen Notizen, die sagen, warum.' : n === 1 ? 'Fertig. 1 Lehre ist neu.' : `Fertig. ${n} Lehren sind neu.`),
  learnFailed: 'Das hat nicht geklappt.',
  learnStopped: 'Es wurde beendet.',
  seeRun: 'Der Lauf, Schritt für Schritt',

  learnt: 'Was ich gelernt habe',
  emptyTitle: 'Es ist noch nichts gelernt.',
  emptySteps: [
    'Drück den Daumen unter einer Antwort.',
    'Schreib in einer Notiz dazu, warum: „zu lang“, „bitte als Liste“, „antworte auf Deutsch“.',
    'Nach drei Notizen steht hier, was daraus folgt. Du kannst es umformulieren oder abschalten.',
  ],
  emptyWaits: 'Was du gesagt hast, ist noch nicht gelesen.',
  toChat: 'Zur Unterhaltung',
  allAnswers: 'Für alle Antworten',
  inSituation: (label) => `Wenn es darum geht: ${label}`,
  unnamed: 'eine Situation ohne Namen',
  standing: (standing) =>
    ({
      followed: 'Wird befolgt',
      unable: 'Nicht befolgt: Antworten, die nur zitieren, können das nicht; ein Sprachmodell kann es',
      checked: 'Wird geprüft',
      waits: 'Wartet auf deine Entscheidung',
      refused: 'Nicht befolgt: Du hast dich dagegen entschieden',
      undone: 'Nicht befolgt: Du hast es zurückgenommen',
      off: 'Abgeschaltet',
      rejected: 'Nicht befolgt: Es wurde probiert, und Antworten wurden schlechter',
      paused: 'Nicht befolgt: Das Lernen ist abgeschaltet',
      later: 'Noch nicht befolgt: Das kommt, wenn wieder gelernt wird',
    })[standing],
  madeBy: (by) => ({ rule: 'aus deinen Worten gelesen', model: 'vom Modell in Worte gefasst', person: 'in deinen Worten' })[by],
  reword: 'Umformulieren',
  rewordThis: (text) => `„${text}“ umformulieren`,
  rewordLabel: 'Wie du Antworten haben willst',
  forget: 'Vergessen',
  forgetThis: (text) => `„${text}“ vergessen`,
  forgetAsk: (text) => `„${text}“ vergessen? Antworten befolgen es dann nicht mehr. Was du gesagt hast, bleibt, also kann es wieder gelernt werden; soll das nicht sein, schalte es ab.`,
  forgotten: 'Vergessen.',
  reworded: 'Umformuliert.',
  sources: ({ notes, thumbs }) => {
    const parts = [notes > 0 && (notes === 1 ? '1 Notiz' : `${notes} Notizen`), thumbs > 0 && (thumbs === 1 ? '1 Daumen' : `${thumbs} Daumen`)];
    return `Aus ${parts.filter(Boolean).join(' und ')}`;
  },
  signal: (signal) => ({ like: 'Gute Antwort', dislike: 'Schlechte Antwort', always: 'Immer so', never: 'Nie so' })[signal],
  corrected: 'Du hast geschrieben, was sie hätte sagen sollen.',
  noNote: 'Ohne Notiz.',
  openConversation: 'Die Unterhaltung',
  exclude: 'Auslassen',
  excludeThis: (what) => `„${what}“ auslassen`,
  include: 'Wieder aufnehmen',
  includeThis: (what) => `„${what}“ wieder aufnehmen`,
  excluded: 'Ausgelassen: Daraus wird nichts gelernt.',

  change: (status, byRule) =>
    ({
      pending: 'Wird geprüft.',
      approved: 'Wird gleich übernommen.',
      applied: byRule ? 'Ohne Rückfrage übernommen, wie du es erlaubst.' : 'Übernommen, wie du entschieden hast.',
      rejected: 'Du hast dich dagegen entschieden.',
      rolled_back: 'Du hast es zurückgenommen.',
      invalid: 'Es hat die Prüfungen nicht bestanden, und nichts wurde daraus.',
      expired: 'Niemand hat rechtzeitig entschieden, und nichts wurde daraus.',
      withdrawn: 'Zurückgezogen, und nichts wurde daraus.',
      superseded: 'Eine spätere nahm ihren Platz ein.',
    })[status],
  trial: (trial) => {
    if (trial === 'no model') return 'Nicht erprobt: Es ist kein Sprachmodell eingerichtet.';
    if (trial === 'too little') return 'Nicht erprobt: Dazu hast du noch nicht genug gesagt.';
    return `An ${trial.held} deiner Fragen erprobt: ${trial.better} Antworten besser, ${trial.worse} schlechter, ${trial.alike} gleich gut.`;
  },
  undo: 'Rückgängig',
  undoThis: (where) => `Rückgängig machen, was übernommen wurde: ${where}`,
  undoReason: 'Auf der Seite Lernen zurückgenommen.',
  undone: 'Zurückgenommen. Antworten sind wie zuvor.',
  waitsForYou: 'Wartet auf deine Entscheidung.',
  decide: 'Ansehen und entscheiden',
  details: 'Die ganze Änderung',

  situations: 'Situationen',
  situationsLead: 'Worauf deine Fragen immer wieder kommen. Eine Lehre kann für eine von ihnen allein gelten.',
  situationsNone: 'Noch ist keine gefunden. Dazu braucht es wenigstens fünf bewertete Antworten zur gleichen Art von Sache.',
  situationsFailed: 'Die Situationen konnten nicht geladen werden.',
  size: (n) => (n === 1 ? '1 bewertete Antwort' : `${n} bewertete Antworten`),
  rename: 'Umbenennen',
  renameOf: (label) => `„${label}“ umbenennen`,
  name: 'Name',
  sentence: 'In einem Satz',
  save: 'Speichern',
  merge: 'Zusammenlegen',
  mergeOf: (label) => `„${label}“ zusammenlegen`,
  mergeInto: 'Mit',
  mergeMeans: 'Beide werden eine, und bleiben es von da an.',
  merged: 'Zusammengelegt.',
  notOne: 'Keine Situation',
  notOneOf: (label) => `„${label}“ ist keine Situation`,
  notOneAsk: (label) => `„${label}“ aufgeben? Lehren nur für sie werden nicht mehr befolgt. Was du gesagt hast, bleibt.`,
  letGo: 'Aufgeben',
  wentAway: 'Das ist keine Situation mehr.',
  renamed: 'Umbenannt.',
  what: 'Woraus sie besteht',
  whatOf: (label) => `Woraus „${label}“ besteht`,
  pick: (what) => `„${what}“ wählen`,
  split: (n) => (n === 0 ? 'Gewählte abtrennen' : `${n} abtrennen`),
  splitAll: 'Lass wenigstens eine übrig.',
  splitDone: 'Notiert: Diese gehören nicht hierher. Sie gehen ihren eigenen Weg, wenn wieder gelernt wird.',
  nothingIn: 'Es ist nichts mehr darin.',
  everybody: 'Situationen aller',
  everybodyMeans: 'Gefunden mit den Rückmeldungen derer, die es erlauben; gezeigt ab fünf Personen.',

  allowed: 'Was du erlaubst',
  personal: 'Aus dem lernen, was ich zu Antworten sage',
  personalMeans: 'Aus: Es wird nichts gelernt, und nichts Gelerntes wird befolgt. Es bleibt hier, bis du es vergessen lässt.',
  byRuleMay: 'Meine Antworten ohne Rückfrage ändern',
  byRuleMeans: 'Wo eine Probe zeigt, dass Antworten besser werden, oder wo nichts erprobt werden konnte, gilt eine Änderung sofort, mit „Rückgängig“ daneben. Aus: Jede wartet auf deine Entscheidung.',
  shared: 'Mit meinen Rückmeldungen Situationen aller finden helfen',
  sharedMeans: 'Nur, wo fünf oder mehr Personen auf dasselbe kommen. Niemand liest deine Worte.',

  forgetAll: 'Alles vergessen',
  forgetAllMeans: 'Deine Unterhaltungen bleiben. Alles, was du zu Antworten gesagt hast, geht, und alles, was daraus gelernt wurde.',
  forgetAllTitle: 'Alles Gelernte vergessen?',
  forgetAllGoes: 'Das geht endgültig:',
  goes: ({ lessons, adapters }, situations) => [
    'jeder Daumen und jede Notiz unter deinen Antworten',
    ...some(lessons.length, '1 Lehre', (n) => `${n} Lehren`),
    ...some(situations, '1 Situation', (n) => `${n} Situationen`),
    ...some(adapters.length, '1 Adapter, der sie trug', (n) => `${n} Adapter, die sie trugen`),
  ],
  stays: 'Deine Unterhaltungen und Dokumente bleiben, ebenso, was du erlaubst.',
  forgotAll: (n) => (n === 1 ? 'Vergessen, mit 1 Daumen oder Notiz.' : `Vergessen, mit ${n} Daumen und Notizen.`),
};

const dictionaries: Record<Language, LearningWords> = { en, de };

export function useLearningWords(): LearningWords {
  return dictionaries[useStore(language)];
}
