// Saying that a run waits for a person who is elsewhere: in the title, by a dot
// on the page's sign, and, for those who asked for it, by the system.

import { createStore } from './store.ts';
import { readItem, writeItem } from './storage.ts';

/** unsupported: this browser has none; blocked: the person's browser refuses. */
export type Notices = 'unsupported' | 'blocked' | 'off' | 'on';

const key = 'liminal.notify';

/** Whether the system says when something waits. */
export const systemNotices = createStore<Notices>(state());

function state(): Notices {
  if (typeof Notification === 'undefined') return 'unsupported';
  if (Notification.permission === 'denied') return 'blocked';
  return Notification.permission === 'granted' && readItem('local', key) === '1' ? 'on' : 'off';
}

/** Switches them; on asks the browser's permission, so call it only from a person's own click. */
export async function setSystemNotices(on: boolean): Promise<void> {
  writeItem('local', key, on ? '1' : null);
  if (on && typeof Notification !== 'undefined' && Notification.permission === 'default') await Notification.requestPermission();
  systemNotices.set(state());
}

const shown = new Set<Notification>();

/** Takes away what the system still shows, as when its person leaves. */
export function forgetNotices(): void {
  for (const one of shown) one.close();
  shown.clear();
}

/** Whoever signs in has what they chose; for another person than before nothing is switched on. */
export function keepNotices(another: boolean): void {
  if (another) writeItem('local', key, null);
  systemNotices.set(state());
}

/** What the title says: how much waits, where the reader is, and whose page it is. */
export function titleOf(waiting: number, name: string | null | undefined): string {
  return `${waiting > 0 ? `(${waiting}) ` : ''}${name ? `${name} · ` : ''}Liminal`;
}

/** The page's sign with the ochre dot of what waits for a person; the same lines as public/favicon.svg. */
const dotted = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><style>g{stroke:#1b6a61}.d{fill:#b97a12}@media (prefers-color-scheme:dark){g{stroke:#6cc4b5}.d{fill:#ebb961}}</style>' +
    '<g fill="none" stroke-width="3.2" stroke-linecap="round"><path d="M16 3v7.5M16 21.5V29"/><circle cx="16" cy="16" r="5.5"/></g><circle class="d" cx="25" cy="7" r="6.5"/></svg>',
)}`;
const plain = '/favicon.svg';

/** Puts the dot on the page's sign, or takes it away. */
export function markSign(waiting: boolean): void {
  const sign = document.querySelector<HTMLLinkElement>('link[rel=icon]');
  const wanted = waiting ? dotted : plain;
  if (sign && sign.getAttribute('href') !== wanted) sign.setAttribute('href', wanted);
}

/** Something that waits for a person. */
export interface Waiting {
  id: string; // of its conversation
  title: string;
}

/** A conversation of the list. */
export interface Listed extends Waiting {
  pending: boolean;
  updated_at: string;
}

/**
 * Returns a function that is told what is listed now and says what of it waits
 * anew: what did not wait before, and what is younger than all that was listed.
 * What waits when it is told for the first time is shown by the page, and older
 * conversations come into the list because somebody looks for them.
 */
export function createWatch(): (listed: Listed[]) => Waiting[] {
  let known: ReadonlyMap<string, boolean> | null = null;
  let newest = 0;
  return (listed) => {
    const isNew = (one: Listed) => known!.get(one.id) === false || (!known!.has(one.id) && Date.parse(one.updated_at) > newest);
    const fresh = known === null ? [] : listed.filter((one) => one.pending && isNew(one));
    known = new Map(listed.map((one) => [one.id, one.pending]));
    newest = Math.max(newest, ...listed.map((one) => Date.parse(one.updated_at)));
    return fresh;
  };
}

/** Whether somebody does not see that a conversation waits: they are in another one, or not at this page. */
export function isElsewhere(conversation: string, open: string | null): boolean {
  return conversation !== open || document.visibilityState === 'hidden';
}

const onScreen = (conversation: string) => `liminal.on-screen.${conversation}`;

/** Says to this browser's other tabs that a conversation is on screen here, for as long as it is. */
export function keepOnScreen(conversation: string): () => void {
  let gone: () => void = () => undefined;
  function look() {
    gone();
    if (document.visibilityState === 'hidden') return;
    const leaving = new Promise<void>((resolve) => (gone = resolve));
    void navigator.locks?.request(onScreen(conversation), { mode: 'shared' }, () => leaving);
  }
  look();
  document.addEventListener('visibilitychange', look);
  return () => {
    document.removeEventListener('visibilitychange', look);
    gone();
  };
}

/** Whether a conversation is on screen in any tab; a browser without locks does not know. */
export async function isOnScreen(conversation: string): Promise<boolean> {
  const locks = await navigator.locks?.query();
  return locks?.held?.some((one) => one.name === onScreen(conversation)) ?? false;
}

/** Has the system say it, where that was asked for; a click brings the person there. */
export function notify(waiting: Waiting, sentence: string, go: () => void): void {
  if (systemNotices.get() !== 'on') return;
  try {
    const one = new Notification(waiting.title, { body: sentence, tag: `liminal-${waiting.id}`, icon: plain });
    shown.add(one);
    one.addEventListener('close', () => shown.delete(one));
    one.addEventListener('click', () => {
      window.focus();
      one.close();
      go();
    });
  } catch {
    // Some browsers only let workers notify: the title and the dot have to do.
  }
}
