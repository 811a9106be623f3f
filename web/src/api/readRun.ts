// Which way a run's events come: over the socket, or, where none can be opened,
// over HTTP.

import { NotOpened } from './connection.ts';
import { pageSocket } from './pageSocket.ts';
import { readByStream } from './sse.ts';
import type { Transport } from './transport.ts';

/** Reads a run once, whichever way is open. */
export const readRun: Transport = async (runID, reading) => {
  if (pageSocket.canRead(runID)) {
    try {
      return await pageSocket.read(runID, reading);
    } catch (error) {
      if (!(error instanceof NotOpened)) throw error;
    }
  }
  return readByStream(runID, reading);
};
