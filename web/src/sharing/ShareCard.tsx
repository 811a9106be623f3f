import { useState } from 'react';
import { Form } from '../account/fields.tsx';
import { useAttempt } from '../account/useAttempt.ts';
import { share, takeBack, useShares, type Share, type Thing } from '../api/shares.ts';
import { Card } from '../operate/parts.tsx';
import { Confirm } from '../shell/Confirm.tsx';
import { useShareWords } from './words.ts';
import './sharing.css';

const nameOf = (person: { email: string; handle: string }) => person.email || person.handle;

/** Who has something of a person's own, and the way to give it and to take it back. A set is only read. */
export function ShareCard({ thing }: { thing: Thing }) {
  const words = useShareWords();
  const list = useShares(thing, false);
  const attempt = useAttempt();
  const [everyone, setEveryone] = useState(false);
  const [asking, setAsking] = useState<Share | null>(null);
  const whom = (one: Share) => (one.with ? nameOf(one.with) : words.everybody);
  return (
    <Card title={words.title} note={list.data && list.data.length > 0 ? list.data.length : undefined} className="shares">
      {list.isError && (
        <p role="alert" className="problem">
          {words.failed}
        </p>
      )}
      {list.data?.length === 0 && <p className="hint">{words.nobody}</p>}
      <ul className="share-list">
        {list.data?.map((one) => (
          <li key={one.id}>
            <span>
              {whom(one)} <small>{one.write ? words.adds : words.reads}</small>
            </span>
            <button type="button" className="quiet bad" disabled={attempt.busy} aria-label={words.takeBackFrom(whom(one))} onClick={() => setAsking(one)}>
              {words.takeBack}
            </button>
          </li>
        ))}
      </ul>
      <Form
        attempt={attempt}
        act={words.share}
        onSubmit={(form) =>
          void attempt.go(() =>
            share({
              ...thing,
              ...(everyone ? { everyone: true } : { with: String(form.get('with')).trim() }),
              ...(form.get('write') ? { write: true } : {}),
            }),
          )
        }
      >
        {!everyone && (
          <label>
            <span>{words.who}</span>
            <input name="with" required maxLength={320} autoComplete="off" autoCapitalize="none" spellCheck={false} />
            <small>{words.whoHint}</small>
          </label>
        )}
        <label className="tick">
          <input type="checkbox" name="everyone" checked={everyone} onChange={(event) => setEveryone(event.target.checked)} />
          <span>{words.everyone}</span>
        </label>
        {!('document_set_id' in thing) && (
          <label className="tick">
            <input type="checkbox" name="write" />
            <span>{words.write}</span>
          </label>
        )}
      </Form>
      {asking && (
        <Confirm
          text={words.takeBackAsk(whom(asking))}
          act={words.takeBack}
          onCancel={() => setAsking(null)}
          onAct={() => {
            setAsking(null);
            void attempt.go(() => takeBack(asking.id));
          }}
        />
      )}
    </Card>
  );
}

/** From whom something is that is another's, and the way to let go of it. */
export function SharedFrom({ thing, onLeft }: { thing: Thing; onLeft?(): void }) {
  const words = useShareWords();
  const list = useShares(thing, true);
  const attempt = useAttempt();
  const [asking, setAsking] = useState(false);
  const first = list.data?.[0];
  if (!first) return null;
  const adds = list.data?.some((one) => one.write);
  const mine = list.data?.find((one) => one.with !== null); // what everybody has nobody lets go of
  return (
    <div className="shared-from">
      <p>{adds ? words.fromAdds(nameOf(first.owner)) : words.from(nameOf(first.owner))}</p>
      {mine && (
        <button type="button" className="quiet" disabled={attempt.busy} onClick={() => setAsking(true)}>
          {words.leave}
        </button>
      )}
      {attempt.problem && (
        <p role="alert" className="problem">
          {attempt.problem}
        </p>
      )}
      {asking && mine && (
        <Confirm
          text={words.leaveAsk}
          act={words.leave}
          onCancel={() => setAsking(false)}
          onAct={() => {
            setAsking(false);
            void attempt.go(async () => {
              await takeBack(mine.id);
              onLeft?.();
            });
          }}
        />
      )}
    </div>
  );
}
