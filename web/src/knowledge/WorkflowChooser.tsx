import { useWords } from '../i18n/index.ts';
import { useStore } from '../lib/store.ts';
import { chosenWorkflow, chooseWorkflow } from './choice.ts';
import { titleOf, useWorkflows, workflowOf } from './workflows.ts';

/** Another workflow for the next turns (UI-06): one of one's own, or one that has a title to be chosen by. */
export function WorkflowChooser({ draftKey }: { draftKey: string }) {
  const words = useWords();
  const chosen = useStore(chosenWorkflow);
  const offered = useWorkflows();
  if (!offered?.length) return null;
  return (
    <select
      className="chooser"
      aria-label={words.workflow}
      title={words.workflow}
      value={workflowOf(chosen, draftKey, offered)}
      onChange={(event) => chooseWorkflow(draftKey, event.target.value)}
    >
      <option value="">{words.automatic}</option>
      {offered.map((one) => (
        <option key={one.id} value={one.id}>
          {titleOf(one) || one.name}
        </option>
      ))}
    </select>
  );
}
