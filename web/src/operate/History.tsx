import type { PatchEvent } from '../api/changes.ts';
import { language, useWords } from '../i18n/index.ts';
import { useTold } from '../i18n/said.ts';
import { remarksIn, useSaid } from '../learning/remarks.ts';
import { useStore } from '../lib/store.ts';
import { when } from './figures.ts';
import { Card, TemporalLink } from './parts.tsx';

/** Every step of a patch: who, when, what, and why (CFG-16). Why it was proposed has its own place on the page. */
export function History({ events, temporal }: { events: PatchEvent[]; temporal: string | null | undefined }) {
  const words = useWords();
  const locale = useStore(language);
  const said = useSaid();
  const told = useTold();
  return (
    <Card title={words.history} className="history" extra={<TemporalLink href={temporal} />}>
      <ol className="stops">
        {events.map((event, index) => (
          // Two steps may share their moment; their order never changes.
          // oxlint-disable-next-line react/no-array-index-key
          <li key={index} data-state="ok">
            <p>
              <b>{event.by?.name || words.byItself}</b> {words.eventWords(event.what)}
            </p>
            {event.reason && event.what !== 'proposed' && <blockquote>{event.what === 'invalid' ? told(event.reason) : said(remarksIn(event.data), event.reason)}</blockquote>}
            <small>
              <time dateTime={event.at}>{when(event.at, locale)}</time>
            </small>
          </li>
        ))}
      </ol>
    </Card>
  );
}
