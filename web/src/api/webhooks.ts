// Webhooks: where programs of a person are told of their runs; and of what the person gets mail.

import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { ask, type Body, type Data } from './ask.ts';
import { queryClient } from './queries.ts';

export type { NewWebhook, WebhookDelivery, WebhookEndpoint } from './gen.ts';

const keys = {
  all: ['webhooks'] as const,
  deliveries: (id: string) => ['webhooks', id, 'deliveries'] as const,
  mails: ['notifications'] as const,
};

export function useWebhooks() {
  return useQuery({ queryKey: keys.all, queryFn: async ({ signal }) => (await ask('webhooks', { signal })).data });
}

/** What a webhook was told; looked at again while something waits to be sent soon. */
export function useDeliveries(id: string) {
  return useInfiniteQuery({
    queryKey: keys.deliveries(id),
    queryFn: ({ pageParam, signal }) => ask('webhookDeliveries', { path: { id }, query: { cursor: pageParam }, signal }),
    initialPageParam: '',
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    refetchInterval: (query) => (query.state.data?.pages[0]?.data.some((one) => one.status === 'waiting') ? 3_000 : false),
  });
}

const changed = () => queryClient.invalidateQueries({ queryKey: keys.all });

/** Makes a webhook; its secret is in the answer and nowhere else. */
export async function createWebhook(body: Body<'createWebhook'>): Promise<Data<'createWebhook'>> {
  const made = await ask('createWebhook', { body, once: true });
  void changed();
  return made;
}

export async function changeWebhook(id: string, body: Body<'changeWebhook'>): Promise<void> {
  await ask('changeWebhook', { path: { id }, body });
  await changed();
}

export async function removeWebhook(id: string): Promise<void> {
  await ask('removeWebhook', { path: { id } });
  await changed();
}

export async function rotateWebhookSecret(id: string): Promise<string> {
  return (await ask('rotateWebhookSecret', { path: { id }, once: true })).secret;
}

export async function testWebhook(id: string): Promise<void> {
  await ask('testWebhook', { path: { id } });
  await changed();
}

export async function redeliver(id: string, delivery: string): Promise<void> {
  await ask('redeliverWebhook', { path: { id, delivery_id: delivery } });
  await queryClient.invalidateQueries({ queryKey: keys.deliveries(id) });
}

export function useNotifications() {
  return useQuery({ queryKey: keys.mails, queryFn: ({ signal }) => ask('notifications', { signal }) });
}

export async function setNotifications(body: Body<'setNotifications'>): Promise<void> {
  queryClient.setQueryData(keys.mails, await ask('setNotifications', { body }));
}
