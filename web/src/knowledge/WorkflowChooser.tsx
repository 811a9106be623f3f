import { useEffect, useRef } from 'react';
import { useWords } from '../i18n/index.ts';
import { useStore } from '../lib/store.ts';
import { Icon } from '../shell/Icon.tsx';
import { chosenWorkflow, chooseWorkflow } from './choice.ts';
import { asTyped, titleOf, typedOf, useWorkflows, workflowOf } from './workflows.ts';

const other = '\n'; // no id and no name

/** Another workflow for the next turns (UI-06): one of one's own, one that has a title to be chosen by, or any by its id or name. */
export function WorkflowChooser({ draftKey }: { draftKey: string }) {
  const words = useWords();
  const chosen = useStore(chosenWorkflow);
  const offered = useWorkflows();
  const typed = typedOf(chosen[draftKey]);
  const list = useRef<HTMLSelectElement>(null);
  const back = useRef(false); // the list was asked for: it takes the focus
  useEffect(() => {
    if (typed === null && back.current) list.current?.focus();
    back.current = false;
  }, [typed]);

  function leave() {
    back.current = true;
    chooseWorkflow(draftKey, '');
  }

  if (typed !== null) {
    return (
      <span className="typed-workflow">
        <input
          className="chooser"
          aria-label={words.workflowID}
          placeholder={words.workflowIDHint}
          title={words.workflowID}
          value={typed}
          maxLength={200}
          spellCheck={false}
          autoCapitalize="off"
          autoFocus={typed === ''}
          onChange={(event) => chooseWorkflow(draftKey, asTyped(event.target.value))}
          onKeyDown={(event) => {
            if (event.key === 'Escape') leave();
          }}
        />
        <button type="button" className="icon-button" aria-label={words.workflowList} title={words.workflowList} onClick={leave}>
          <Icon name="close" />
        </button>
      </span>
    );
  }
  return (
    <select
      ref={list}
      className="chooser"
      aria-label={words.workflow}
      title={words.workflow}
      value={workflowOf(chosen, draftKey, offered)}
      onChange={(event) => chooseWorkflow(draftKey, event.target.value === other ? asTyped('') : event.target.value)}
    >
      <option value="">{words.automatic}</option>
      {offered?.map((one) => (
        <option key={one.id} value={one.id}>
          {titleOf(one) || one.name}
        </option>
      ))}
      <option value={other}>{words.workflowOther}</option>
    </select>
  );
}
