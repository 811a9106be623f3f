// The words of the trainings on the page Learning.

import { language, type Language } from '../i18n/index.ts';
import { useStore } from '../lib/store.ts';
import type { GateKept, Training, TrainGate } from '../api/learning.ts';

type Reason = NonNullable<Training['place']>['reason'];

const en = {
  trainings: 'Training',
  lead: 'Where a language model runs on this server, what you liked and corrected also trains an adapter of your own.',
  failed: 'The trainings could not be loaded.',
  none: 'Nothing has been trained yet. It begins by itself, after eight liked or corrected answers.',
  train: 'Train again',
  trainOf: (name: string) => `Train again: ${name}`,
  cancel: 'Cancel',
  cancelOf: (name: string) => `Cancel the training: ${name}`,
  cancelled: 'The training was cancelled.',
  curve: 'The loss, step by step',
  loss: 'Loss',
  compared: 'Loss of what you disliked',
  heldOut: 'Held out',
  step: 'Step',
  summary: (first: string, last: string) => `The loss went from ${first} to ${last}.`,
  progress: (step: number, of: number, speed: string, left: string) => `Step ${step} of ${of} · ${speed} tokens a second · ${left} left`,
  version: (n: number) => `Version ${n}`,
  events: (n: number) => (n === 1 ? 'with 1 answer' : `with ${n} answers`),
  ahead: (n: number) => (n === 0 ? 'It is next.' : n === 1 ? '1 training comes before it.' : `${n} trainings come before it.`),
  waits: (reason: Reason, until: string) =>
    ({
      '': '',
      retry: `It did not work out, and is tried again${until}.`,
      person: 'Another training of yours runs.',
      cooldown: `One of yours ended just now; this one may begin${until}.`,
      full: 'As many run as may.',
      busy: 'As many run as may.',
      behind: 'Another training of yours comes first.',
    })[reason],
  until: (time: string) => ` at ${time}`,
  stage: (stage: Training['stage']) =>
    ({
      queue: 'Waits',
      dataset: 'Gathering what it is trained with',
      fit: 'Training',
      judge: 'Being tried',
      publish: 'Being written',
      propose: 'Being handed in',
      settle: 'Being handed in',
      done: 'Trained',
      kept: 'Not better, so not used',
      few: 'Too little to train with',
      failed: 'Failed',
      cancelled: 'Cancelled',
    })[stage],
  gate: (g: TrainGate, p: string) =>
    `Tried on ${g.events} answers of yours that were kept aside: ${g.outcome === 'none' ? 'not better' : g.outcome === 'rule' ? `better (${p})` : `perhaps better (${p})`}.`,
  kept: (k: GateKept) => `Its answers have the form that is wanted in ${k.new} of ${k.of} checks; before in ${k.now}, and without any adapter in ${k.base}.`,
  // Operate
  everybodys: 'What is trained for everybody: what runs, what waits, and what came of the latest. What people said is not shown.',
  runs: 'Running',
  waitsHere: 'In the queue',
  ended: 'Ended',
  nothing: 'Nothing has been trained here yet.',
  kind: (kind: Training['kind']) => ({ sft: 'with what they said', distil: 'by merging two adapters' })[kind],
  gateOf: (g: TrainGate, figure: (n: number) => string) =>
    `Gate: ${g.events} held out; loss ${figure(g.loss.new)}, before ${figure(g.loss.now)}; alignment ${figure(g.alignment.new)}, before ${figure(g.alignment.now)}; P ${figure(g.p)}.`,
};

const de: typeof en = {
  trainings: 'Training',
  lead: 'Wo ein Sprachmodell auf diesem Server läuft, wird mit dem, was du mochtest und verbessert hast, auch ein eigener Adapter trainiert.',
  failed: 'Die Trainings konnten nicht geladen werden.',
  none: 'Es wurde noch nichts trainiert. Es beginnt von selbst, nach acht gelobten oder verbesserten Antworten.',
  train: 'Neu trainieren',
  trainOf: (name) => `Neu trainieren: ${name}`,
  cancel: 'Abbrechen',
  cancelOf: (name) => `Das Training abbrechen: ${name}`,
  cancelled: 'Das Training wurde abgebrochen.',
  curve: 'Der Verlust, Schritt für Schritt',
  loss: 'Verlust',
  compared: 'Verlust bei dem, was du nicht mochtest',
  heldOut: 'Zurückgelegt',
  step: 'Schritt',
  summary: (first, last) => `Der Verlust ging von ${first} auf ${last}.`,
  progress: (step, of, speed, left) => `Schritt ${step} von ${of} · ${speed} Tokens je Sekunde · noch ${left}`,
  version: (n) => `Fassung ${n}`,
  events: (n) => (n === 1 ? 'mit 1 Antwort' : `mit ${n} Antworten`),
  ahead: (n) => (n === 0 ? 'Es ist als Nächstes dran.' : n === 1 ? '1 Training kommt davor.' : `${n} Trainings kommen davor.`),
  waits: (reason, until) =>
    ({
      '': '',
      retry: `Es gelang nicht und wird${until} noch einmal versucht.`,
      person: 'Ein anderes Training von dir läuft.',
      cooldown: `Eines von dir ist eben zu Ende gegangen; dieses darf${until} beginnen.`,
      full: 'Es laufen so viele, wie laufen dürfen.',
      busy: 'Es laufen so viele, wie laufen dürfen.',
      behind: 'Ein anderes Training von dir kommt zuerst.',
    })[reason],
  until: (time) => ` um ${time}`,
  stage: (stage) =>
    ({
      queue: 'Wartet',
      dataset: 'Sammelt, womit trainiert wird',
      fit: 'Trainiert',
      judge: 'Wird erprobt',
      publish: 'Wird geschrieben',
      propose: 'Wird eingereicht',
      settle: 'Wird eingereicht',
      done: 'Trainiert',
      kept: 'Nicht besser, also nicht benutzt',
      few: 'Zu wenig, um damit zu trainieren',
      failed: 'Gescheitert',
      cancelled: 'Abgebrochen',
    })[stage],
  gate: (g, p) => `An ${g.events} zurückgelegten Antworten von dir erprobt: ${g.outcome === 'none' ? 'nicht besser' : g.outcome === 'rule' ? `besser (${p})` : `vielleicht besser (${p})`}.`,
  kept: (k) => `Die Antworten haben in ${k.new} von ${k.of} Prüfungen die gewünschte Form; vorher in ${k.now}, und ganz ohne Adapter in ${k.base}.`,
  everybodys: 'Was für alle trainiert wird: was läuft, was wartet, und was aus den letzten wurde. Was jemand gesagt hat, steht nicht da.',
  runs: 'Läuft',
  waitsHere: 'In der Schlange',
  ended: 'Beendet',
  nothing: 'Hier wurde noch nichts trainiert.',
  kind: (kind) => ({ sft: 'mit dem, was gesagt wurde', distil: 'aus zwei Adaptern vereint' })[kind],
  gateOf: (g, figure) =>
    `Prüfung: ${g.events} zurückgelegt; Verlust ${figure(g.loss.new)}, vorher ${figure(g.loss.now)}; Übereinstimmung ${figure(g.alignment.new)}, vorher ${figure(g.alignment.now)}; P ${figure(g.p)}.`,
};

const all: Record<Language, typeof en> = { en, de };

export function useTrainingWords() {
  return all[useStore(language)];
}
