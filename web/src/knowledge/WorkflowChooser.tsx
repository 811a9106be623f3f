import { useEffect, useRef } from 'react';
import type { Conversation } from '../api/types.ts';
import { notice } from '../chat/commands.ts';
import { sentence } from '../i18n/errors.ts';
import { language, useWords } from '../i18n/index.ts';
import { useStore } from '../lib/store.ts';
import { Icon } from '../shell/Icon.tsx';
import { chosenWorkflow, chooseWorkflow, keepWorkflow } from './choice.ts';
import { surfaceOf } from './surface.ts';
import { asTyped, choiceOf, titleOf, typedOf, useWorkflows, workflowOf } from './workflows.ts';

const other = '\n'; // no id and no name

/** Another workflow for the next turns (UI-06): one of one's own, one that has a title to be chosen by, or any by its id or name. */
export function WorkflowChooser({ draftKey, conversation }: { draftKey: string; conversation: Conversation | null }) {
  const words = useWords();
  const locale = useStore(language);
  const chosen = useStore(chosenWorkflow);
  const offered = useWorkflows();
  const typed = typedOf(choiceOf(chosen, draftKey, conversation?.workflow_id, offered));
  const list = useRef<HTMLSelectElement>(null);
  const back = useRef(false); // the list was asked for: it takes the focus
  useEffect(() => {
    if (typed === null && back.current) list.current?.focus();
    back.current = false;
  }, [typed]);

  /** What is typed is kept once it is typed to its end. */
  function keep(id: string) {
    if (!conversation || id === conversation.workflow_id) return;
    keepWorkflow(conversation.id, id).catch((error: unknown) => notice(draftKey, sentence(error)));
  }

  function choose(id: string) {
    chooseWorkflow(draftKey, id);
    keep(id);
  }

  function leave() {
    back.current = true;
    choose('');
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
          onBlur={() => keep(typed.trim())}
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
      value={workflowOf(chosen, draftKey, offered, conversation?.workflow_id)}
      onChange={(event) => (event.target.value === other ? chooseWorkflow(draftKey, asTyped('')) : choose(event.target.value))}
    >
      <option value="">{words.automatic}</option>
      {offered?.map((one) => (
        <option key={one.id} value={one.id}>
          {surfaceOf(one, locale)?.title || titleOf(one) || one.name}
        </option>
      ))}
      <option value={other}>{words.workflowOther}</option>
    </select>
  );
}
