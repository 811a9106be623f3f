// Which way a run's events come: over the socket, or, where none can be opened,
// over HTTP.

import { readBySocket, socketMayRead, Unopened } from './socket.ts';
import { readByStream } from './sse.ts';
import type { Transport } from './transport.ts';

/** Reads a run once, whichever way is open. */
export const readRun: Transport = async (runID, reading) => {
  if (socketMayRead(runID)) {
    try {
      return await readBySocket(runID, reading);
    } catch (error) {
      if (!(error instanceof Unopened)) throw error;
    }
  }
  return readByStream(runID, reading);
};
