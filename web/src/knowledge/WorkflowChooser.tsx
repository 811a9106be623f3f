import { useQuery } from '@tanstack/react-query';
import { call } from '../api/call.ts';
import type { Page } from '../api/types.ts';
import { useWords } from '../i18n/index.ts';
import { useStore } from '../lib/store.ts';
import { chosenWorkflow } from './choice.ts';

interface Workflow {
  id: string;
  type: string;
  name: string;
  visibility: string;
}

/** Another workflow for the next turns (UI-06); shown only to those who have one of their own. */
export function WorkflowChooser({ draftKey }: { draftKey: string }) {
  const words = useWords();
  const chosen = useStore(chosenWorkflow);
  const workflows = useQuery({
    queryKey: ['workflows'],
    queryFn: async ({ signal }) => (await call<Page<Workflow>>('/v1/artifacts', { query: { type: 'workflow', limit: 100 }, signal })).data,
    staleTime: 30_000,
  });
  const own = (workflows.data ?? []).filter((one) => one.visibility !== 'global');
  if (own.length === 0) return null;
  return (
    <select
      className="chooser"
      aria-label={words.workflow}
      title={words.workflow}
      value={chosen[draftKey] ?? ''}
      onChange={(event) => chosenWorkflow.set({ ...chosen, [draftKey]: event.target.value })}
    >
      <option value="">{words.automatic}</option>
      {own.map((one) => (
        <option key={one.id} value={one.id}>
          {one.name}
        </option>
      ))}
    </select>
  );
}
