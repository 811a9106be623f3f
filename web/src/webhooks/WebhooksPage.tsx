import './webhooks.css';
import { useState } from 'react';
import { createWebhook, useWebhooks, type NewWebhook } from '../api/webhooks.ts';
import { Form } from '../account/fields.tsx';
import { accountSentence } from '../account/errors.ts';
import { useAttempt } from '../account/useAttempt.ts';
import { Card, Loading, useAdmin } from '../operate/parts.tsx';
import { CopyButton } from '../shell/CopyButton.tsx';
import { Events, pickedOf } from './Events.tsx';
import { Mails } from './Mails.tsx';
import { WebhookCard } from './WebhookCard.tsx';
import { useWebhookWords } from './words.ts';

/** Webhooks: who is told of a person's runs; making one, its secret the one time it is shown, what was sent. */
export default function WebhooksPage() {
  const words = useWebhookWords();
  const list = useWebhooks();
  const [made, setMade] = useState<Pick<NewWebhook, 'secret'> | null>(null);
  return (
    <div className="stack webhooks makes">
      <p className="hint">{words.lead}</p>
      <Mails />
      <Card title={words.make}>{made ? <Told secret={made.secret} onKept={() => setMade(null)} /> : <NewHook onMade={setMade} />}</Card>
      {list.isError && (
        <p role="alert" className="problem">
          {words.loadFailed} {accountSentence(list.error)}
        </p>
      )}
      {list.isPending && <Loading />}
      {list.data?.length === 0 && <p className="hint">{words.none}</p>}
      {list.data?.map((one) => <WebhookCard key={one.id} webhook={one} onSecret={(secret) => setMade({ secret })} />)}
    </div>
  );
}

function NewHook({ onMade }: { onMade(made: NewWebhook): void }) {
  const words = useWebhookWords();
  const attempt = useAttempt();
  const admin = useAdmin();
  const [missing, setMissing] = useState(false);

  function make(form: FormData) {
    const picked = pickedOf(form, 'event');
    setMissing(picked.length === 0);
    if (picked.length === 0) return;
    const assistants = String(form.get('assistants')).split(',').map((name) => name.trim()).filter(Boolean);
    void attempt.go(async () =>
      onMade(
        await createWebhook({
          url: String(form.get('url')).trim(),
          description: String(form.get('description')).trim(),
          events: picked,
          ...(assistants.length > 0 ? { assistants } : {}),
          ...(form.get('tenant') ? { tenant: true } : {}),
        }),
      ),
    );
  }

  return (
    <Form attempt={attempt} act={words.makeIt} onSubmit={make}>
      <label>
        <span>{words.url}</span>
        <input name="url" type="url" required maxLength={2000} autoComplete="off" spellCheck={false} placeholder="https://example.org/hooks" />
        <small>{words.urlHint}</small>
      </label>
      <label>
        <span>{words.description}</span>
        <input name="description" maxLength={200} autoComplete="off" />
      </label>
      <fieldset aria-describedby={missing ? 'webhook-nothing' : undefined}>
        <legend>{words.about}</legend>
        <Events name="event" />
      </fieldset>
      {missing && (
        <p id="webhook-nothing" role="alert" className="problem">
          {words.nothing}
        </p>
      )}
      <label>
        <span>{words.assistants}</span>
        <input name="assistants" autoComplete="off" spellCheck={false} />
        <small>{words.assistantsHint}</small>
      </label>
      {admin && (
        <label className="tick">
          <input type="checkbox" name="tenant" />
          <span>
            {words.tenant} <small>{words.tenantHint}</small>
          </span>
        </label>
      )}
    </Form>
  );
}

/** A secret, the one time it is told. */
function Told({ secret, onKept }: { secret: string; onKept(): void }) {
  const words = useWebhookWords();
  return (
    <div className="shown-once">
      <p role="status">{words.once}</p>
      <p className="secret">
        <code>{secret}</code> <CopyButton text={secret} label={words.copy} />
      </p>
      <button type="button" className="primary" onClick={onKept}>
        {words.kept}
      </button>
    </div>
  );
}
