import { lazy, Suspense, useContext, useRef, useState } from 'react';
import { useUIConfig } from '../api/queries.ts';
import { useWords } from '../i18n/index.ts';
import { CopyButton } from '../shell/CopyButton.tsx';
import { Icon, type IconName } from '../shell/Icon.tsx';
import { branchOff, ChangeContext, edit } from './change.ts';
import type { Turn } from './thread.ts';
import { useLockReason } from './useLockReason.ts';
import { Versions } from './Versions.tsx';

const Aloud = lazy(() => import('../voice/Aloud.tsx'));

/** What can be done with an answer. */
export function AnswerActions({ turn, text }: { turn: Turn; text: string }) {
  const words = useWords();
  const change = useContext(ChangeContext);
  const locked = useLockReason();
  const speaks = useUIConfig().data?.text_to_speech;
  const user = turn.user;
  return (
    <span className="acts">
      {text && <CopyButton text={text} label={words.copyAnswer} icon />}
      {text && speaks && (
        <Suspense>
          <Aloud text={text} />
        </Suspense>
      )}
      {change && user && <Act icon="again" name={words.regenerate} off={locked} press={() => void change.replace(user, user.content)} />}
      {change && turn.answer && <Branch conversation={change.conversation} message={turn.answer.id} go={change.go} />}
    </span>
  );
}

function Branch({ conversation, message, go }: { conversation: string; message: string; go(conversation: string): void }) {
  const words = useWords();
  const [busy, setBusy] = useState(false);
  const key = useRef(''); // one branch, however often it has to be asked for
  async function press() {
    if (busy) return;
    setBusy(true);
    key.current ||= crypto.randomUUID();
    const made = await branchOff(conversation, message, key.current);
    setBusy(false);
    if (!made) return;
    key.current = '';
    go(made);
  }
  return <Act icon="fork" name={words.branch} off="" busy={busy} press={() => void press()} />;
}

/** What can be done with one's own words. */
export function WordsActions({ turn }: { turn: Turn }) {
  const words = useWords();
  const change = useContext(ChangeContext);
  const locked = useLockReason();
  const user = turn.user;
  if (!user) return null;
  return (
    <div className="said-foot">
      <span className="acts">
        {change && <Act icon="edit" name={words.editWords} off={locked} opens press={() => edit(change.conversation, user.id)} />}
        <CopyButton text={user.content} label={words.copyWords} icon />
      </span>
      <Versions message={user} />
    </div>
  );
}

interface ActProps {
  icon: IconName;
  name: string;
  off: string; // why it cannot be done now
  busy?: boolean;
  opens?: boolean; // it opens the editor, and takes the focus back from it
  press(): void;
}

/** A quiet deed. While it cannot be done it can still be reached, and says why. */
export function Act({ icon, name, off, busy = false, opens, press }: ActProps) {
  return (
    <button
      type="button"
      className="act"
      data-edit={opens}
      aria-label={name}
      title={off ? `${name}. ${off}` : name}
      aria-disabled={off !== '' || busy}
      onClick={() => {
        if (off === '' && !busy) press();
      }}
    >
      <Icon name={icon} />
    </button>
  );
}
