import { useState } from 'react';
import { setNotifications, useNotifications } from '../api/webhooks.ts';
import { Form } from '../account/fields.tsx';
import { accountSentence } from '../account/errors.ts';
import { useAttempt } from '../account/useAttempt.ts';
import { Card, Loading } from '../operate/parts.tsx';
import { Events, pickedOf } from './Events.tsx';
import { useWebhookWords } from './words.ts';

const waits = [0, 5, 15, 60, 240, 1440];

/** Of what a person gets mail. */
export function Mails() {
  const words = useWebhookWords();
  const attempt = useAttempt();
  const chosen = useNotifications();
  const [saved, setSaved] = useState(false);
  return (
    <Card title={words.mails}>
      <p className="hint">{words.mailsHint}</p>
      {chosen.isPending && <Loading />}
      {chosen.isError && (
        <p role="alert" className="problem">
          {words.loadFailed} {accountSentence(chosen.error)}
        </p>
      )}
      {chosen.data && (
        <Form
          attempt={attempt}
          act={words.save}
          onSubmit={(form) => {
            setSaved(false);
            void attempt.go(() => setNotifications({ events: pickedOf(form, 'mail'), after_minutes: Number(form.get('after')) })).then(setSaved);
          }}
        >
          <fieldset>
            <Events name="mail" picked={chosen.data.events} />
          </fieldset>
          <label>
            <span>{words.after}</span>
            <select name="after" defaultValue={chosen.data.events.length > 0 ? chosen.data.after_minutes : 15}>
              {[...new Set([...waits, chosen.data.after_minutes])].toSorted((a, b) => a - b).map((n) => (
                <option key={n} value={n}>
                  {words.minutes(n)}
                </option>
              ))}
            </select>
          </label>
        </Form>
      )}
      <p role="status">{saved ? words.saved : ''}</p>
    </Card>
  );
}
