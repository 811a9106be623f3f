// What a person shares, and what others share with them.

import { useQuery } from '@tanstack/react-query';
import { ask, type Body } from './ask.ts';
import { queryClient } from './queries.ts';

export type { Share, SharedPerson } from './gen.ts';

/** The thing a share is of, as requests name it. */
export type Thing = { context_id: string } | { document_set_id: string } | { artifact_id: string };

const shares = ['shares'] as const;

export function useShares(thing: Thing, received: boolean) {
  return useQuery({
    queryKey: [...shares, thing, received],
    queryFn: async ({ signal }) => (await ask('listShares', { query: { ...thing, received, limit: 100 }, signal })).data,
  });
}

/** After a change of who has what, whatever shows it looks again. */
async function changed(): Promise<void> {
  await queryClient.invalidateQueries();
}

export async function share(body: Body<'createShare'>): Promise<void> {
  await ask('createShare', { body });
  await changed();
}

export async function takeBack(id: string): Promise<void> {
  await ask('deleteShare', { path: { id } });
  await changed();
}
