import type { enFeedback } from './en.feedback.ts';

const heard: Record<Parameters<typeof enFeedback.noted>[0], string> = {
  like: 'sie gefällt dir',
  dislike: 'sie gefällt dir nicht',
  always: 'immer so',
  never: 'nie wieder so',
};

export const deFeedback: typeof enFeedback = {
  feedback: 'Rückmeldung',
  feedbackGroup: 'Rückmeldung zu dieser Antwort',
  feedbackUp: 'Gute Antwort',
  feedbackDown: 'Schlechte Antwort',
  feedbackNoted: 'Notiert.',
  feedbackUndo: 'Rückgängig',
  feedbackNote: 'Notiz hinzufügen',
  feedbackNoteEdit: 'Notiz ändern',
  feedbackWhy: 'Warum?',
  feedbackShould: 'Was sie hätte sagen sollen',
  feedbackAlways: 'Immer so antworten',
  feedbackNever: 'Nie wieder so antworten',
  feedbackSave: 'Notiz speichern',
  feedbackFailed: 'Deine Rückmeldung wurde nicht behalten.',
  feedbackTarget: 'Zu welcher Antwort',
  feedbackNoAnswer: 'Noch keine Antwort',
  feedbackIDs: 'Worum es geht',
  feedbackAdapters: 'Adapter',
  feedbackSnippets: 'Stellen aus dem Kontext',
  feedbackGates: 'Gewichte',
  feedbackTrace: 'Spur',
  feedbackNothing: 'Nichts, solange es keine Antwort gibt.',
  noted: (signal) => `Als Rückmeldung zur Antwort darüber notiert: ${heard[signal]}.`,
  notedUndone: 'Zurückgenommen: Das wird nicht als Rückmeldung behalten.',
};
