import { Link } from 'wouter';
import { useOpenDecisions } from '../api/artifacts.ts';
import { session } from '../api/session.ts';
import { useWords } from '../i18n/index.ts';
import { useStore } from '../lib/store.ts';
import { Icon, type IconName } from './Icon.tsx';
import type { Place } from './place.ts';

interface Props {
  place: Place;
  chat: string; // the address of the conversation that was open last
}

/** The parts of the program: beside the mark, on a phone below the page. */
export function Tabs({ place, chat }: Props) {
  const words = useWords();
  const { user } = useStore(session);
  const admin = user?.role === 'admin';
  const open = useOpenDecisions(admin);
  const tabs: { place: Place; href: string; name: string; icon: IconName; count: number }[] = [
    { place: 'chat', href: chat, name: words.tabChat, icon: 'chat', count: 0 },
    { place: 'contexts', href: '/contexts', name: words.tabContexts, icon: 'document', count: 0 },
    { place: 'artifacts', href: '/artifacts', name: words.tabArtifacts, icon: 'branch', count: 0 },
    { place: 'settings', href: '/settings', name: words.tabSettings, icon: 'settings', count: 0 },
  ];
  if (admin) tabs.push({ place: 'operate', href: '/operate', name: words.tabOperate, icon: 'gauge', count: open });
  return (
    <nav className="tabs" aria-label={words.tabs}>
      {tabs.map((tab) => (
        <Link key={tab.place} href={tab.href} aria-current={tab.place === place ? 'page' : undefined}>
          <Icon name={tab.icon} />
          <span>{tab.name}</span>
          {tab.count > 0 && (
            <b className="count" title={words.openDecisions(tab.count)}>
              {tab.count}
              <span className="hidden">{words.openDecisions(tab.count)}</span>
            </b>
          )}
        </Link>
      ))}
    </nav>
  );
}
