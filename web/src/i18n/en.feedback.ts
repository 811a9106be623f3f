// The words of what people think of answers.

import type { Feedback } from '../api/gen.ts';

const heard: Record<Feedback['signal'], string> = {
  like: 'you like it',
  dislike: 'you do not like it',
  always: 'always like this',
  never: 'never again',
};

export const enFeedback = {
  feedback: 'Feedback',
  feedbackGroup: 'Feedback on this answer',
  feedbackUp: 'Good answer',
  feedbackDown: 'Bad answer',
  feedbackNoted: 'Noted.',
  feedbackUndo: 'Undo',
  feedbackNote: 'Add a note',
  feedbackNoteEdit: 'Change the note',
  feedbackWhy: 'Why?',
  feedbackShould: 'What it should have said',
  feedbackAlways: 'Always answer like this',
  feedbackNever: 'Never answer like this again',
  feedbackSave: 'Save note',
  feedbackFailed: 'Your feedback was not kept.',
  feedbackTarget: 'On which answer',
  feedbackNoAnswer: 'No answer yet',
  feedbackIDs: 'Target',
  feedbackAdapters: 'Adapters',
  feedbackSnippets: 'Context snippets',
  feedbackGates: 'Gates',
  feedbackTrace: 'Trace',
  feedbackNothing: 'Nothing, as long as there is no answer.',
  firstThumb: 'Liminal learns from this how you want to be answered.',
  firstThumbMore: 'What it learns',
  followed: 'Followed',
  followedTitle: 'What was learnt from you, and this answer followed',
  followedOff: 'Off',
  followedOffThis: (text: string) => `Off: ${text}`,
  followedOn: 'On again',
  followedIsOff: 'switched off',
  noted: (signal: Feedback['signal']) => `Noted as feedback on the answer above: ${heard[signal]}.`,
  notedUndone: 'Taken back: this is not kept as feedback.',
};
