import { lazy, Suspense, useEffect, useRef, useState, type RefObject } from 'react';
import { flushSync } from 'react-dom';
import { useLocation, useRoute } from 'wouter';
import { arrival, leaveArrival } from '../account/arrival.ts';
import { useConversations, useProgramConversations, useUIConfig } from '../api/queries.ts';
import { session } from '../api/session.ts';
import { Chat } from '../chat/Chat.tsx';
import { language, useWords } from '../i18n/index.ts';
import { DropZone } from '../knowledge/DropZone.tsx';
import { UploadTray } from '../knowledge/UploadTray.tsx';
import { useStore } from '../lib/store.ts';
import { panel } from '../panel/state.ts';
import { Panel } from '../panel/Panel.tsx';
import { AccountMenu } from './AccountMenu.tsx';
import { ErrorBoundary } from './ErrorBoundary.tsx';
import { Icon } from './Icon.tsx';
import { Mark } from './Mark.tsx';
import { placeOf, type Place } from './place.ts';
import { Sidebar } from './Sidebar.tsx';
import { Tabs } from './Tabs.tsx';
import { useWaiting } from './useWaiting.ts';

// Loaded when somebody goes there: most people only ever chat.
const pages = {
  contexts: lazy(() => import('../contexts/ContextsPage.tsx')),
  artifacts: lazy(() => import('../artifacts/ArtifactsPage.tsx')),
  settings: lazy(() => import('../settings/SettingsPage.tsx')),
  operate: lazy(() => import('../operate/OperatePage.tsx')),
  r: lazy(() => import('../records/RecordPage.tsx')),
  inbox: lazy(() => import('../inbox/InboxPage.tsx')),
};

const Unverified = lazy(async () => ({ default: (await import('../account/Unverified.tsx')).Unverified }));
const SurfacePage = lazy(() => import('../surfaces/SurfacePage.tsx'));

export function Shell() {
  const words = useWords();
  const [open, setOpen] = useState(false); // the drawer, where the sidebar is one
  const toggle = useRef<HTMLButtonElement>(null);
  const [, params] = useRoute('/c/:id');
  const [location, go] = useLocation();
  const place = placeOf(location);
  const chat = useLast(place === 'chat' ? location : null);
  const id = params?.id ?? null;
  const conversations = useConversations();
  const programs = useProgramConversations();
  const locale = useStore(language);
  const unverified = useStore(session).user?.unverified;
  const here = useUIConfig().data?.surfaces.find((one) => location === `/${one.path}`);
  const talks = place === 'chat' || place === 'surface';
  const all = conversations.data?.pages.flatMap((page) => page.data) ?? [];
  const conversation = [...all, ...(programs.data?.pages.flatMap((page) => page.data) ?? [])].find((one) => one.id === id);
  const names = { chat: conversation?.title, contexts: words.tabContexts, artifacts: words.tabArtifacts, settings: words.tabSettings, operate: words.tabOperate, r: words.recordTab, inbox: 'Inbox', surface: here && (here.title[locale] || here.title['en']) };
  const waiting = useWaiting(conversations.data ? all : null, id, names[place]);

  useEffect(() => setOpen(false), [location]);
  useEffect(() => panel.set(null), [id, place]);
  useEffect(() => {
    if (arrival.get()?.kind !== 'linked') return;
    leaveArrival();
    go('/settings', { replace: true }); // where the new link stands
  }, [go]);

  function close() {
    flushSync(() => setOpen(false)); // an inert page takes no focus
    toggle.current?.focus();
  }

  return (
    <div className="shell" data-drawer={open ? 'open' : 'closed'}>
      <a className="skip" href={talks ? '#message' : '#page'}>
        {talks ? words.skipToChat : words.skipToPage}
      </a>
      <Sidebar id="sidebar" query={conversations} active={id} open={open} close={close} />
      {open && <button type="button" className="scrim" tabIndex={-1} aria-label={words.closeSidebar} onClick={close} />}
      <div className="page" inert={open}>
        <TopBar
          toggle={toggle}
          open={open}
          waiting={waiting > 0}
          place={place}
          chat={chat}
          title={!talks ? null : id ? conversation?.title || words.untitled : names.surface || words.newConversation}
          onOpen={() => setOpen(true)}
        />
        {unverified && (
          <Suspense>
            <Unverified />
          </Suspense>
        )}
        <div className="work">
          {place === 'chat' ? (
            <Chat key={id ?? '_new'} id={id} conversation={conversation ?? null} />
          ) : place === 'surface' ? (
            <ErrorBoundary key={location}>
              <Suspense>
                <SurfacePage location={location} surface={here} />
              </Suspense>
            </ErrorBoundary>
          ) : (
            <main id="page" className="plain-page" tabIndex={-1}>
              <ErrorBoundary key={place}>
                <Suspense fallback={<p className="hint opening">{words.loadingPage}</p>}>
                  <Page place={place} />
                </Suspense>
              </ErrorBoundary>
            </main>
          )}
          <Panel />
        </div>
        {!talks && <UploadTray apart />}
      </div>
      <DropZone />
    </div>
  );
}

function Page({ place }: { place: keyof typeof pages }) {
  const Shown = pages[place];
  return <Shown />;
}

/** The last address that was one of a conversation: where its tab leads back to. */
function useLast(location: string | null): string {
  const [last, setLast] = useState(location ?? '/');
  if (location !== null && location !== last) setLast(location);
  return location ?? last;
}

interface TopBarProps {
  toggle: RefObject<HTMLButtonElement | null>;
  open: boolean;
  waiting: boolean; // a question is open somewhere
  place: Place;
  chat: string;
  title: string | null; // of the conversation; other pages have a heading of their own
  onOpen(): void;
}

function TopBar({ toggle, open, waiting, place, chat, title, onOpen }: TopBarProps) {
  const words = useWords();
  return (
    <header className="top">
      <button
        ref={toggle}
        type="button"
        className="icon-button drawer-toggle"
        aria-controls="sidebar"
        aria-expanded={open}
        aria-label={words.openSidebar}
        onClick={onOpen}
      >
        <Icon name="menu" />
        {waiting && <span className="dot wait" aria-hidden="true" />}
      </button>
      <span className="brand">
        <Mark />
        <b>Liminal</b>
      </span>
      <Tabs place={place} chat={chat} />
      {title === null ? <span className="title" /> : <h1 className="title">{title}</h1>}
      <AccountMenu />
    </header>
  );
}
