// Nothing one person has read may be left for the next. It goes at once when
// they leave, or when another page of this browser has signed somebody else in:
// before anything is drawn for whoever comes.

import { queryClient } from './api/queries.ts';
import { session } from './api/session.ts';
import { forgetRuns } from './chat/follower.ts';
import { forgetCommands } from './chat/commands.ts';
import { forgetFeedback } from './feedback/state.ts';
import { forgetForms } from './forms/kept.ts';
import { forgetChoices } from './knowledge/choice.ts';
import { forgetUploads } from './knowledge/uploads.ts';
import { forgetNotices } from './lib/notify.ts';
import { writeItem } from './lib/storage.ts';

let here = session.get().user?.id;
let last = here; // who was here last

session.subscribe(() => {
  const now = session.get().user?.id;
  // Also when the next one comes: an answer may have been under way when the last one left.
  // Not when it is said once more that nobody is here, as by a late refusal: the form
  // of whoever is about to sign in stands already, and would begin anew.
  if (now !== here && last !== undefined && now !== last) forgetPerson();
  here = now;
  last = now ?? last;
});

function forgetPerson(): void {
  forgetRuns();
  forgetCommands();
  forgetFeedback();
  forgetForms();
  forgetUploads();
  forgetChoices();
  forgetNotices();
  writeItem('local', 'liminal.kept', null); // surfaces/kept.ts
  queryClient.clear();
}
