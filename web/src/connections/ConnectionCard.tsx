import { useState } from 'react';
import { Link } from 'wouter';
import { beginConnection, endConnection, setConnectionClient, type Connection } from '../api/connections.ts';
import { regain } from '../contexts/parts.tsx';
import { language } from '../i18n/index.ts';
import { regional } from '../lib/format.ts';
import { useStore } from '../lib/store.ts';
import { ActDialog, Card, useAdmin } from '../operate/parts.tsx';
import { Confirm } from '../shell/Confirm.tsx';
import { CopyButton } from '../shell/CopyButton.tsx';
import { connectionSentence, useConnectionWords } from './words.ts';

interface Props {
  connection: Connection;
  /** Tells what an act led to, at the head of the page. */
  say(text: string): void;
}

/** One place: how it stands with the person's account there, and what can be done about it. */
export function ConnectionCard({ connection, say }: Props) {
  const words = useConnectionWords();
  const admin = useAdmin();
  const { name, title, configured, account } = connection;
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState('');
  const [asking, setAsking] = useState<{ what: 'end' | 'client' | 'clientEnd'; from: HTMLButtonElement } | null>(null);

  /** Takes a dialog away; the focus goes back to what opened it, where nothing else has it. */
  function close() {
    setAsking(null);
    requestAnimationFrame(() => regain(asking?.from));
  }

  /** Does it; where it fails, the focus goes back to what was pressed. */
  async function act(from: HTMLButtonElement, work: () => Promise<void>) {
    setAsking(null);
    setBusy(true);
    setProblem('');
    try {
      await work();
    } catch (error) {
      setProblem(connectionSentence(error, words));
      requestAnimationFrame(() => regain(from));
    } finally {
      setBusy(false);
    }
  }

  const connect = (from: HTMLButtonElement) => void act(from, () => beginConnection(name, '/settings/connections'));

  return (
    <Card title={title}>
      <State connection={connection} />
      {problem && (
        <p role="alert" className="problem">
          {problem}
        </p>
      )}
      <div className="flex-row">
        {configured && !account && <Press label={words.connectOf(title)} text={words.connect} className="primary" busy={busy} press={connect} />}
        {configured && account?.refused && <Press label={words.againOf(title)} text={words.again} className="primary" busy={busy} press={connect} />}
        {account && <Press label={words.endOf(title)} text={words.end} busy={busy} press={(from) => setAsking({ what: 'end', from })} />}
        {admin && (configured || !account) && <Press label={words.clientOf(title)} text={words.client} className={configured ? 'quiet' : ''} busy={busy} press={(from) => setAsking({ what: 'client', from })} />}
        {admin && configured && <Press label={words.clientEndOf(title)} text={words.clientEnd} className="quiet bad" busy={busy} press={(from) => setAsking({ what: 'clientEnd', from })} />}
      </div>
      {asking?.what === 'end' && (
        <Confirm text={words.endAsk(title)} act={words.end} onCancel={close} onAct={() => void act(asking.from, async () => say(words.ended(title, await endConnection(name))))} />
      )}
      {asking?.what === 'clientEnd' && (
        <Confirm
          text={words.clientEndAsk(title)}
          act={words.clientEnd}
          onCancel={close}
          onAct={() =>
            void act(asking.from, async () => {
              await setConnectionClient(name, '', '');
              say(words.clientEnded(title));
            })
          }
        />
      )}
      {asking?.what === 'client' && (
        <ActDialog
          title={words.clientOf(title)}
          act={words.save}
          onClose={close}
          onAct={async (form) => {
            const ready = await setConnectionClient(name, String(form.get('client_id')).trim(), String(form.get('client_secret')).trim());
            setAsking(null);
            say(ready ? words.clientKept(title) : words.clientKeptOnly(title));
          }}
        >
          <label className="field">
            <span>{words.clientID}</span>
            <input name="client_id" autoFocus autoComplete="off" autoCapitalize="none" spellCheck={false} maxLength={400} />
            <small>{words.clientIDHint}</small>
          </label>
          <label className="field">
            <span>{words.clientSecret}</span>
            <input name="client_secret" type="password" required autoComplete="new-password" maxLength={4096} />
            <small>{words.clientHint}</small>
          </label>
        </ActDialog>
      )}
    </Card>
  );
}

interface PressProps {
  label: string;
  text: string;
  className?: string;
  busy: boolean;
  press(button: HTMLButtonElement): void;
}

function Press({ label, text, className, busy, press }: PressProps) {
  return (
    <button type="button" className={className} disabled={busy} aria-label={label} onClick={(event) => press(event.currentTarget)}>
      {text}
    </button>
  );
}

function State({ connection: { name, title, configured, account } }: { connection: Connection }) {
  const words = useConnectionWords();
  const locale = regional(useStore(language));
  const admin = useAdmin();
  if (!account) {
    if (configured) return <p>{words.notConnected}</p>;
    return (
      <>
        <p>
          {words.notSetUp} {!admin && words.askAdmin}
        </p>
        {admin && <Steps name={name} title={title} />}
      </>
    );
  }
  const day = (at: string) => new Date(at).toLocaleDateString(locale, { dateStyle: 'long' });
  const until = account.expires_at;
  return (
    <>
      {account.refused ? <p className="problem">{words.refused(title)}</p> : <p>{words.connected}</p>}
      {!configured && <p className="hint">{words.gone}</p>}
      <dl className="facts">
        {account.name && (
          <>
            <dt>{words.as}</dt>
            <dd>{account.name}</dd>
          </>
        )}
        <dt>{words.since}</dt>
        <dd>
          <time dateTime={account.created_at}>{day(account.created_at)}</time>
        </dd>
        {until && !account.refused && (
          <>
            <dt>{words.until}</dt>
            <dd>{Date.parse(until) < Date.now() ? words.renewed : <time dateTime={until}>{new Date(until).toLocaleString(locale, { dateStyle: 'long', timeStyle: 'short' })}</time>}</dd>
          </>
        )}
        {account.scopes.length > 0 && (
          <>
            <dt>{words.granted}</dt>
            <dd>{account.scopes.join(', ')}</dd>
          </>
        )}
      </dl>
    </>
  );
}

/** What an administrator has to do before anybody can connect. */
function Steps({ name, title }: { name: string; title: string }) {
  const words = useConnectionWords();
  const redirect = `${location.origin}/v1/connections/${encodeURIComponent(name)}/callback`;
  const [app, reach, client] = words.steps(title);
  return (
    <ol className="steps">
      <li>
        {app}
        <span className="redirect">
          <code>{redirect}</code> <CopyButton text={redirect} label={words.copyRedirect} icon />
        </span>
      </li>
      <li>{reach}</li>
      <li>
        {client} <Link href="/docs/setConnectionClient">{words.inAPI}</Link>
      </li>
    </ol>
  );
}
