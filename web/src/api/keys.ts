// Access keys: how programs act for a person.

import { useQuery } from '@tanstack/react-query';
import { ask, type Body } from './ask.ts';
import { queryClient } from './queries.ts';

export type { AccessKey, NewAccessKey } from './gen.ts';

const keys = ['access-keys'] as const;

export function useAccessKeys() {
  return useQuery({ queryKey: keys, queryFn: async ({ signal }) => (await ask('listKeys', { signal })).data });
}

/** Makes a key; its text is in the answer and nowhere else. */
export async function createAccessKey(body: Body<'createKey'>) {
  const made = await ask('createKey', { body, once: true });
  void queryClient.invalidateQueries({ queryKey: keys });
  return made;
}

export async function endAccessKey(id: string): Promise<void> {
  await ask('revokeKey', { path: { id } });
  await queryClient.invalidateQueries({ queryKey: keys });
}
