// The words of dictation and of reading aloud, which come with them.

import './voice.css';
import { language, type Language } from '../i18n/index.ts';
import { useStore } from '../lib/store.ts';

const en = {
  dictate: 'Dictate',
  stop: 'Stop dictating',
  stopTitle: 'Stop dictating. Escape discards what was said.',
  recording: (clock: string) => `Listening, ${clock}`,
  started: 'Listening. Press the button again to stop; Escape discards what was said.',
  writing: 'Writing it down…',
  written: (text: string) => `Written into the message: ${text}`,
  discarded: 'Discarded.',
  nothing: 'No words were heard. Nothing was written.',
  refused: 'The browser does not let this page use the microphone. Allow it beside the address, and try again.',
  none: 'No microphone was found.',
  unable: 'This browser gives no microphone to pages that are not served over https.',
  broke: 'The microphone stopped by itself. Try again.',
  dictationFailed: (why: string) => `It could not be written down. ${why}`,
  aloud: 'Read aloud',
  preparing: 'Preparing to read aloud',
  stopAloud: 'Stop reading aloud',
  aloudFailed: (why: string) => `It could not be read aloud. ${why}`,
  mute: 'This browser plays no sound.',
  voice: 'Voice',
  voiceHint: 'Whose voice reads answers aloud, by its name on the speech server; empty: its usual one.',
  save: 'Save',
  saved: 'Saved.',
  hear: 'Listen to it',
  sample: 'This is how answers sound.',
};

type Dictionary = typeof en;

const de: Dictionary = {
  dictate: 'Diktieren',
  stop: 'Diktat beenden',
  stopTitle: 'Diktat beenden. Escape verwirft das Gesagte.',
  recording: (clock) => `Hört zu, ${clock}`,
  started: 'Hört zu. Drücken Sie den Knopf noch einmal, um aufzuhören; Escape verwirft das Gesagte.',
  writing: 'Wird aufgeschrieben …',
  written: (text) => `In die Nachricht geschrieben: ${text}`,
  discarded: 'Verworfen.',
  nothing: 'Es waren keine Worte zu hören. Nichts wurde geschrieben.',
  refused: 'Der Browser lässt diese Seite nicht ans Mikrofon. Erlauben Sie es neben der Adresse und versuchen Sie es noch einmal.',
  none: 'Es wurde kein Mikrofon gefunden.',
  unable: 'Dieser Browser gibt Seiten, die nicht über https kommen, kein Mikrofon.',
  broke: 'Das Mikrofon hat von selbst aufgehört. Versuchen Sie es noch einmal.',
  dictationFailed: (why) => `Es konnte nicht aufgeschrieben werden. ${why}`,
  aloud: 'Vorlesen',
  preparing: 'Vorlesen wird vorbereitet',
  stopAloud: 'Vorlesen beenden',
  aloudFailed: (why) => `Es konnte nicht vorgelesen werden. ${why}`,
  mute: 'Dieser Browser spielt keinen Ton.',
  voice: 'Stimme',
  voiceHint: 'Wessen Stimme Antworten vorliest, mit ihrem Namen auf dem Sprachserver; leer: dessen übliche.',
  save: 'Speichern',
  saved: 'Gespeichert.',
  hear: 'Anhören',
  sample: 'So klingen Antworten.',
};

const dictionaries: Record<Language, Dictionary> = { en, de };

export function useVoiceWords(): Dictionary {
  return dictionaries[useStore(language)];
}
