import './connections.css';
import { useEffect, useRef, useState } from 'react';
import { useConnections, type Connection } from '../api/connections.ts';
import { regain } from '../contexts/parts.tsx';
import { sentence } from '../i18n/errors.ts';
import { useWords } from '../i18n/index.ts';
import { Loading } from '../operate/parts.tsx';
import { dropCame, readCame, type Came } from './came.ts';
import { ConnectionCard } from './ConnectionCard.tsx';
import { useConnectionWords, whyNot, type ConnectionWords } from './words.ts';

/** Connections: the accounts a person has elsewhere and lets tools act with; connecting one, ending it. */
export default function ConnectionsPage() {
  const shell = useWords();
  const words = useConnectionWords();
  const list = useConnections();
  const [came, setCame] = useState(() => readCame(location.hash));
  const [said, setSaid] = useState('');
  const place = useRef<HTMLParagraphElement>(null);
  useEffect(dropCame, []);
  useEffect(() => {
    document.title = `${shell.connections} · Liminal`;
  }, [shell]);

  /** Tells what an act led to. Where what was pressed has gone with it, the focus comes here. */
  function say(text: string) {
    setCame(null);
    setSaid(text);
    requestAnimationFrame(() => regain(place.current));
  }

  return (
    <div className="stack connections">
      <p className="hint">{words.lead}</p>
      {came && 'reason' in came && (
        <p role="alert" className="problem">
          {whyNot(came.reason, words)}
        </p>
      )}
      <p ref={place} className="connections-said" role="status" tabIndex={-1}>
        {came ? arrived(came, list.data, words) : said}
      </p>
      {list.isError && (
        <div className="load-problem">
          <p role="alert" className="problem">
            {words.loadFailed} {sentence(list.error)}
          </p>
          <button type="button" onClick={() => void list.refetch()}>
            {shell.tryAgain}
          </button>
        </div>
      )}
      {list.isPending && <Loading />}
      {list.data?.length === 0 && <p className="hint">{words.none}</p>}
      {list.data?.map((one) => <ConnectionCard key={one.name} connection={one} say={say} />)}
    </div>
  );
}

/** That an account was connected, where it is so: an address alone proves nothing. */
function arrived(came: Came, list: Connection[] | undefined, words: ConnectionWords): string {
  const one = 'name' in came ? list?.find((it) => it.name === came.name) : undefined;
  return one?.account && !one.account.refused ? words.connectedNow(one.title, one.account.name) : '';
}
