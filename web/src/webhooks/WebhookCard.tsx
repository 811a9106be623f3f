import { useState } from 'react';
import { changeWebhook, redeliver, removeWebhook, rotateWebhookSecret, testWebhook, useDeliveries, type WebhookDelivery, type WebhookEndpoint } from '../api/webhooks.ts';
import { accountSentence } from '../account/errors.ts';
import { useAttempt } from '../account/useAttempt.ts';
import { language } from '../i18n/index.ts';
import { stamp } from '../lib/format.ts';
import { useStore } from '../lib/store.ts';
import { Card, Loading } from '../operate/parts.tsx';
import { Confirm } from '../shell/Confirm.tsx';
import { useWebhookWords, type EventName, type WebhookWords } from './words.ts';

const eventName = (event: string, words: WebhookWords) => words.event[event as EventName] ?? words.test;

/** One webhook: how it stands, what can be done with it, and what it was told. */
export function WebhookCard({ webhook, onSecret }: { webhook: WebhookEndpoint; onSecret(secret: string): void }) {
  const words = useWebhookWords();
  const locale = useStore(language);
  const attempt = useAttempt();
  const [asking, setAsking] = useState<'rotate' | 'remove' | null>(null);
  const [open, setOpen] = useState(false);
  const name = webhook.description || new URL(webhook.url).host;
  const act = (label: string, work: () => Promise<unknown>) => (
    <button type="button" disabled={attempt.busy} aria-label={words.of(label, name)} onClick={() => void attempt.go(work)}>
      {label}
    </button>
  );
  return (
    <Card title={name} note={webhook.enabled ? words.on : words.off}>
      <p className="address">
        <code>{webhook.url}</code>
      </p>
      <p className="facts-line">
        <span>{webhook.events.map((event) => eventName(event, words)).join(', ')}</span>
        {webhook.tenant && <span>{words.everybodys}</span>}
        {webhook.by_key && <span>{words.byKey}</span>}
        {webhook.assistants.length > 0 && <span>{words.only(webhook.assistants.join(', '))}</span>}
        {webhook.reason && <span>{words.why[webhook.reason] ?? webhook.reason}</span>}
        {webhook.enabled && webhook.failing_since && <span>{words.failing(stamp(webhook.failing_since, new Date(), locale))}</span>}
      </p>
      {attempt.problem && (
        <p role="alert" className="problem">
          {attempt.problem}
        </p>
      )}
      <div className="flex-row">
        {webhook.enabled &&
          act(words.tryIt, async () => {
            await testWebhook(webhook.id);
            setOpen(true);
          })}
        {webhook.reason !== 'key_ended' && act(webhook.enabled ? words.turnOff : words.turnOn, () => changeWebhook(webhook.id, { enabled: !webhook.enabled }))}
        <button type="button" aria-label={words.of(words.rotate, name)} disabled={attempt.busy} onClick={() => setAsking('rotate')}>
          {words.rotate}
        </button>
        <button type="button" className="quiet bad" aria-label={words.of(words.remove, name)} disabled={attempt.busy} onClick={() => setAsking('remove')}>
          {words.remove}
        </button>
      </div>
      <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>{words.deliveries}</summary>
        {open && <Deliveries webhook={webhook} />}
      </details>
      {asking && (
        <Confirm
          text={asking === 'rotate' ? words.rotateAsk(name) : words.removeAsk(name)}
          act={asking === 'rotate' ? words.rotate : words.remove}
          onCancel={() => setAsking(null)}
          onAct={() => {
            setAsking(null);
            void attempt.go(async () => (asking === 'rotate' ? onSecret(await rotateWebhookSecret(webhook.id)) : removeWebhook(webhook.id)));
          }}
        />
      )}
    </Card>
  );
}

function Deliveries({ webhook }: { webhook: WebhookEndpoint }) {
  const words = useWebhookWords();
  const attempt = useAttempt();
  const list = useDeliveries(webhook.id);
  const all = list.data?.pages.flatMap((page) => page.data) ?? [];
  return (
    <>
      {list.isPending && <Loading />}
      {(attempt.problem || list.isError) && (
        <p role="alert" className="problem">
          {attempt.problem || `${words.loadFailed} ${accountSentence(list.error)}`}
        </p>
      )}
      {list.data && all.length === 0 && <p className="hint">{words.noDeliveries}</p>}
      <ul className="delivery-list">
        {all.map((one) => (
          <li key={one.id}>
            <Delivery one={one} />
            {webhook.enabled && (one.status !== 'waiting' || one.attempts > 0) && (
              <button type="button" className="quiet" disabled={attempt.busy} onClick={() => void attempt.go(() => redeliver(webhook.id, one.id))}>
                {words.again}
              </button>
            )}
          </li>
        ))}
      </ul>
      {list.hasNextPage && (
        <button type="button" disabled={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          {words.more}
        </button>
      )}
    </>
  );
}

function Delivery({ one }: { one: WebhookDelivery }) {
  const words = useWebhookWords();
  const locale = useStore(language);
  const at = (time: string) => stamp(time, new Date(), locale);
  const why = one.code > 0 ? `HTTP ${one.code}` : words.error[one.error];
  return (
    <div>
      <p>
        {eventName(one.event, words)}: {words.status[one.status] ?? one.status}
      </p>
      <p className="facts-line">
        <time dateTime={one.happened_at}>{at(one.happened_at)}</time>
        {one.attempts > 0 && <span>{words.attempts(one.attempts)}</span>}
        {why && <span>{why}</span>}
        {one.next_at && one.attempts > 0 && <span>{words.next(at(one.next_at))}</span>}
        <code>{one.id}</code>
      </p>
    </div>
  );
}
