// Connections: the accounts that a person has elsewhere, and that tools act with.

import { useQuery } from '@tanstack/react-query';
import { ask } from './ask.ts';
import { queryClient } from './queries.ts';

export type { Connection } from './gen.ts';

const key = ['connections'] as const;

const read = async (signal?: AbortSignal) => (await ask('connections', signal ? { signal } : {})).data;

export function useConnections() {
  return useQuery({ queryKey: key, queryFn: ({ signal }) => read(signal) });
}

/** Sends this browser off to connect; it comes back to a path of the client. */
export async function beginConnection(name: string, back: string): Promise<void> {
  const { url } = await ask('beginConnection', { path: { name }, body: { return: back }, once: true });
  location.assign(url);
}

/** Forgets an account; true when its server was told and took the tokens back. */
export async function endConnection(name: string): Promise<boolean> {
  const { told } = await ask('endConnection', { path: { name } });
  await queryClient.invalidateQueries({ queryKey: key });
  return told;
}

/** Keeps the client of a connection, or none any more; true when people can connect with what is kept now. */
export async function setConnectionClient(name: string, id: string, secret: string): Promise<boolean> {
  await ask('setConnectionClient', { path: { name }, body: { client_id: id, client_secret: secret } });
  const list = await read();
  queryClient.setQueryData(key, list);
  return list.some((one) => one.name === name && one.configured);
}
