// The one socket of this page, and what it follows: who is signed in, and
// whether there is a network.

import { accessToken, refresh, session } from './session.ts';
import { ChatSocket } from './socket.ts';

/** Ties a socket to the session and the network of this page, until what it returns is called: that closes it. */
export function attach(socket: ChatSocket): () => void {
  const ended = new AbortController();
  const { signal } = ended;
  const leaveSession = followSession(socket);
  // After another network or a long sleep a connection can be dead without a word.
  window.addEventListener(
    'online',
    () => {
      socket.resetBackoff();
      socket.probe();
    },
    { signal },
  );
  window.addEventListener('offline', () => socket.probe(), { signal });
  document.addEventListener(
    'visibilitychange',
    () => {
      if (document.visibilityState === 'visible') socket.probe();
    },
    { signal },
  );
  return () => {
    ended.abort();
    leaveSession();
    socket.close();
  };
}

/** A renewed token signs in on the open connection too; nobody signed in, or somebody else, closes it. */
function followSession(socket: ChatSocket): () => void {
  let owner = session.get().user?.id;
  return session.subscribe(() => {
    const { state, user } = session.get();
    if (state === 'out' || (owner !== undefined && user?.id !== owner)) socket.close();
    else socket.signIn();
    owner = user?.id;
  });
}

export const pageSocket = new ChatSocket({ token: accessToken, renew: () => refresh().catch(() => false) });
attach(pageSocket);
