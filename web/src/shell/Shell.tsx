import { useEffect, useRef, useState, type RefObject } from 'react';
import { flushSync } from 'react-dom';
import { useLocation, useRoute } from 'wouter';
import { arrival, leaveArrival } from '../account/arrival.ts';
import { Unverified } from '../account/Unverified.tsx';
import { useConversations } from '../api/queries.ts';
import { Chat } from '../chat/Chat.tsx';
import { useWords } from '../i18n/index.ts';
import { panel } from '../panel/state.ts';
import { Panel } from '../panel/Panel.tsx';
import { AccountMenu } from './AccountMenu.tsx';
import { Icon } from './Icon.tsx';
import { Mark } from './Mark.tsx';
import { Sidebar } from './Sidebar.tsx';

export function Shell() {
  const words = useWords();
  const [open, setOpen] = useState(false); // the drawer, where the sidebar is one
  const toggle = useRef<HTMLButtonElement>(null);
  const [, params] = useRoute('/c/:id');
  const [location] = useLocation();
  const id = params?.id ?? null;
  const conversations = useConversations();
  const all = conversations.data?.pages.flatMap((page) => page.data) ?? [];
  const conversation = all.find((one) => one.id === id);
  const waiting = all.filter((one) => one.pending).length;

  useEffect(() => setOpen(false), [location]);
  useEffect(() => panel.set(null), [id]);
  useEffect(() => {
    if (arrival.get()?.kind !== 'linked') return;
    leaveArrival();
    panel.set({ kind: 'security' }); // where the new link stands
  }, []);
  useEffect(() => {
    document.title = `${waiting > 0 ? `(${waiting}) ` : ''}${conversation?.title ? `${conversation.title} · ` : ''}Liminal`;
  }, [waiting, conversation?.title]);

  function close() {
    flushSync(() => setOpen(false)); // an inert page takes no focus
    toggle.current?.focus();
  }

  return (
    <div className="shell" data-drawer={open ? 'open' : 'closed'}>
      <a className="skip" href="#message">
        {words.skipToChat}
      </a>
      <Sidebar id="sidebar" query={conversations} active={id} open={open} close={close} />
      {open && <button type="button" className="scrim" tabIndex={-1} aria-label={words.closeSidebar} onClick={close} />}
      <div className="page" inert={open}>
        <TopBar
          toggle={toggle}
          open={open}
          waiting={waiting > 0}
          title={id ? conversation?.title || words.untitled : words.newConversation}
          onOpen={() => setOpen(true)}
        />
        <Unverified />
        <div className="work">
          <Chat key={id ?? '_new'} id={id} conversation={conversation ?? null} />
          <Panel />
        </div>
      </div>
    </div>
  );
}

interface TopBarProps {
  toggle: RefObject<HTMLButtonElement | null>;
  open: boolean;
  waiting: boolean; // a question is open somewhere
  title: string;
  onOpen(): void;
}

function TopBar({ toggle, open, waiting, title, onOpen }: TopBarProps) {
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
      <h1 className="title">{title}</h1>
      <button type="button" className="text-button" onClick={() => panel.set({ kind: 'documents' })}>
        <Icon name="document" />
        <span>{words.documents}</span>
      </button>
      <AccountMenu />
    </header>
  );
}
