import { useState } from 'react';
import { useContexts } from '../api/queries.ts';
import type { Conversation } from '../api/types.ts';
import { useWords } from '../i18n/index.ts';
import { useStore } from '../lib/store.ts';
import { chosenContext, contextOf } from './choice.ts';
import { UploadForm } from './UploadForm.tsx';

/** Which context files go to: the one answers come from, until another is named. */
export default function ChatUpload({ draftKey, conversation }: { draftKey: string; conversation: Conversation | null }) {
  const words = useWords();
  const used = contextOf(useStore(chosenContext), draftKey, conversation);
  const [picked, setPicked] = useState<string | null>(null);
  const own = (useContexts().data ?? []).filter((one) => one.mine);
  const wanted = picked ?? used;
  const target = own.some((one) => one.id === wanted) ? wanted : '';
  return (
    <UploadForm contextID={target}>
      <label className="field">
        <span>{words.knowledgeInto}</span>
        <select value={target} onChange={(event) => setPicked(event.target.value)}>
          <option value="">{words.myDocuments}</option>
          {own
            .filter((one) => one.name !== words.myDocuments)
            .map((one) => (
              <option key={one.id} value={one.id}>
                {one.name}
              </option>
            ))}
        </select>
      </label>
    </UploadForm>
  );
}
