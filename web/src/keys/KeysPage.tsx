import { useState } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import { accountKeys, useFactor } from '../api/account.ts';
import { createAccessKey, endAccessKey, useAccessKeys, type AccessKey, type NewAccessKey } from '../api/keys.ts';
import { session } from '../api/session.ts';
import { Form, proofOf, ProofField } from '../account/fields.tsx';
import { accountSentence } from '../account/errors.ts';
import { useAttempt } from '../account/useAttempt.ts';
import { language, useWords } from '../i18n/index.ts';
import { stamp } from '../lib/format.ts';
import { useStore } from '../lib/store.ts';
import { Card } from '../operate/parts.tsx';
import { Confirm } from '../shell/Confirm.tsx';
import { CopyButton } from '../shell/CopyButton.tsx';
import { lives, offered } from './scopes.ts';
import { useKeyWords } from './words.ts';
import './keys.css';

/** Access keys: making one, copying it the one time it is shown, what was used when, ending one. */
export default function KeysPage() {
  const words = useKeyWords();
  const client = useQueryClient();
  const [made, setMade] = useState<NewAccessKey | null>(null);
  return (
    <div className="stack keys makes">
      <p className="hint">{words.lead}</p>
      <Card title={words.make}>
        {made ? (
          <Told made={made} onKept={() => setMade(null)} />
        ) : (
          <NewKey
            onMade={(key) => {
              setMade(key);
              void client.invalidateQueries({ queryKey: accountKeys.factor });
            }}
          />
        )}
      </Card>
      <List />
    </div>
  );
}

function NewKey({ onMade }: { onMade(made: NewAccessKey): void }) {
  const words = useKeyWords();
  const common = useWords();
  const { user } = useStore(session);
  const factor = useFactor();
  const attempt = useAttempt();
  const [recovery, setRecovery] = useState(false);
  const [missing, setMissing] = useState(false);
  const scopes = offered(user?.role);

  function make(form: FormData) {
    const picked = scopes.filter((scope) => form.get(`scope-${scope}`));
    setMissing(picked.length === 0);
    if (picked.length === 0) return;
    const assistants = String(form.get('assistants')).split(',').map((name) => name.trim()).filter(Boolean);
    void attempt.go(async () =>
      onMade(
        await createAccessKey({
          name: String(form.get('name')).trim(),
          scopes: picked,
          expires_in_days: Number(form.get('days')),
          ...(assistants.length > 0 ? { assistants } : {}),
          ...(factor.data?.enabled ? proofOf(form, recovery) : {}),
        }),
      ),
    );
  }

  return (
    <>
      <Form attempt={attempt} act={words.makeIt} onSubmit={make}>
        <label>
          <span>{words.name}</span>
          <input name="name" required maxLength={80} autoComplete="off" placeholder={words.namePlaceholder} />
        </label>
        <fieldset aria-describedby={missing ? 'key-scopes-missing' : undefined}>
          <legend>{words.opens}</legend>
          {scopes.map((scope) => (
            <label key={scope} className="tick">
              <input type="checkbox" name={`scope-${scope}`} />
              <span>
                {words.scope[scope][0]} <small>{words.scope[scope][1]}</small>
              </span>
            </label>
          ))}
        </fieldset>
        {missing && (
          <p id="key-scopes-missing" role="alert" className="problem">
            {words.opensNothing}
          </p>
        )}
        <label>
          <span>{words.days}</span>
          <select name="days" defaultValue="90">
            {lives.map((days) => (
              <option key={days} value={days}>
                {words.daysOf(days)}
              </option>
            ))}
          </select>
        </label>
        <label>
          <span>{words.assistants}</span>
          <input name="assistants" autoComplete="off" spellCheck={false} />
          <small>{words.assistantsHint}</small>
        </label>
        {factor.data?.enabled && (
          <>
            <p className="hint">{words.factor}</p>
            <ProofField recovery={recovery} />
          </>
        )}
      </Form>
      {factor.data?.enabled && (
        <button type="button" className="link" onClick={() => setRecovery(!recovery)}>
          {recovery ? common.useCode : common.useRecovery}
        </button>
      )}
    </>
  );
}

/** A key, the one time it is told. */
function Told({ made, onKept }: { made: NewAccessKey; onKept(): void }) {
  const words = useKeyWords();
  return (
    <div className="shown-once">
      <p role="status">{words.once}</p>
      <p className="secret">
        <code>{made.key}</code> <CopyButton text={made.key} label={words.copy} />
      </p>
      <p className="hint">{words.how}:</p>
      <pre>
        <code>{`curl -H "Authorization: Bearer $KEY" ${location.origin}${made.scopes.includes('read') ? '/v1/conversations' : '/v1/openapi.json'}`}</code>
      </pre>
      <button type="button" className="primary" onClick={onKept}>
        {words.kept}
      </button>
    </div>
  );
}

function List() {
  const words = useKeyWords();
  const attempt = useAttempt();
  const list = useAccessKeys();
  const [asking, setAsking] = useState<AccessKey | null>(null);
  const open = list.data?.filter((key) => !key.ended) ?? [];
  const past = list.data?.filter((key) => key.ended) ?? [];
  return (
    <>
      {list.data && open.length === 0 && <p className="hint">{words.none}</p>}
      {(attempt.problem || list.isError) && (
        <p role="alert" className="problem">
          {attempt.problem || `${words.loadFailed} ${accountSentence(list.error)}`}
        </p>
      )}
      <Rows keys={open} busy={attempt.busy} end={setAsking} />
      {past.length > 0 && (
        <details>
          <summary>{words.past(past.length)}</summary>
          <Rows keys={past} busy />
        </details>
      )}
      {asking && (
        <Confirm
          text={words.endAsk(asking.name)}
          act={words.end}
          onCancel={() => setAsking(null)}
          onAct={() => {
            setAsking(null);
            void attempt.go(() => endAccessKey(asking.id));
          }}
        />
      )}
    </>
  );
}

function Rows({ keys, busy, end }: { keys: AccessKey[]; busy: boolean; end?(key: AccessKey): void }) {
  const words = useKeyWords();
  const locale = useStore(language);
  const day = (at: string) => new Date(at).toLocaleDateString(locale);
  if (keys.length === 0) return null;
  return (
    <ul className="key-list">
      {keys.map((key) => (
        <li key={key.id}>
          <div>
            <p className="name">{key.name}</p>
            <p className="facts">
              <span>{key.scopes.join(', ')}</span>
              {key.audience === 'mcp' && <span>{words.signedIn}</span>}
              {key.assistants.length > 0 && <span>{words.only(key.assistants.join(', '))}</span>}
              <span>{key.revoked_at ? words.ended(day(key.revoked_at)) : key.ended ? words.ran(day(key.expires_at)) : words.until(day(key.expires_at))}</span>
              <span>{key.used_at ? words.used(stamp(key.used_at, new Date(), locale)) : words.never}</span>
            </p>
          </div>
          {end && (
            <button type="button" className="quiet bad" disabled={busy} aria-label={words.endOf(key.name)} onClick={() => end(key)}>
              {words.end}
            </button>
          )}
        </li>
      ))}
    </ul>
  );
}
