import { Link, useLocation } from 'wouter';
import { useUIConfig } from '../api/queries.ts';
import { language } from '../i18n/index.ts';
import { useWaitingList } from '../inbox/waiting.ts';
import { useStore } from '../lib/store.ts';
import { SurfaceIcon } from './SurfaceIcon.tsx';
import { said } from './said.ts';
import { useSurfaceWords } from './words.ts';

/** What is above the conversations: what waits, then the assistants with a page of their own (GRND-01). */
export default function Overview() {
  const words = useSurfaceWords();
  const locale = useStore(language);
  const [location] = useLocation();
  const surfaces = useUIConfig().data?.surfaces ?? [];
  const waits = useWaitingList().length;
  const here = (path: string) => (location === path ? 'page' : undefined);
  return (
    <section className="overview" aria-label={words.overview}>
      <h2>{words.overview}</h2>
      <ul>
        <li>
          <Link href="/inbox" aria-current={here('/inbox')}>
            <SurfaceIcon name="inbox" accent="" />
            <span>{words.inbox}</span>
            {waits > 0 && (
              <b className="count" title={words.waiting(waits)}>
                {waits}
                <span className="hidden">{words.waiting(waits)}</span>
              </b>
            )}
          </Link>
        </li>
        {surfaces.map((one) => (
          <li key={one.path}>
            <Link href={`/${one.path}`} aria-current={here(`/${one.path}`)}>
              <SurfaceIcon name={one.icon} accent={one.accent} />
              <span>{said(one.title, locale)}</span>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}
