import { useEffect } from 'react';
import { requestConfirmation } from '../api/account.ts';
import { lookAgain, session } from '../api/session.ts';
import { useWords } from '../i18n/index.ts';
import { useStore } from '../lib/store.ts';
import { Resend } from './MailForm.tsx';

/** One quiet line for as long as the address is not confirmed (AUTH-11). */
export function Unverified() {
  const words = useWords();
  const { user } = useStore(session);
  const waits = user?.unverified === true;
  useEffect(() => {
    if (!waits) return;
    // The link opens another page; coming back to this one is the moment to look.
    const look = () => void lookAgain();
    addEventListener('focus', look);
    return () => removeEventListener('focus', look);
  }, [waits]);
  if (!user || !waits) return null;
  return (
    <div className="quiet-line" role="region" aria-label={words.confirmTitle}>
      <span>{words.unverified}</span> <Resend email={user.email} ask={requestConfirmation} />
    </div>
  );
}
