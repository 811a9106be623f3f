import { act } from 'react';
import { QueryClientProvider } from '@tanstack/react-query';
import { createRoot, type Root } from 'react-dom/client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { queryClient } from '../api/queries.ts';
import { session } from '../api/session.ts';
import type { WebhookDelivery, WebhookEndpoint } from '../api/webhooks.ts';
import { setLanguage } from '../i18n/index.ts';
import WebhooksPage from './WebhooksPage.tsx';

const hook = (over: Partial<WebhookEndpoint> = {}): WebhookEndpoint => ({
  id: 'w1',
  url: 'https://example.org/hooks',
  description: 'n8n',
  tenant: false,
  events: ['question.waiting'],
  assistants: [],
  enabled: true,
  reason: '',
  by_key: false,
  failing_since: null,
  created_at: '2026-05-04T12:00:00Z',
  updated_at: '2026-05-04T12:00:00Z',
  ...over,
});

const delivery = (over: Partial<WebhookDelivery> = {}): WebhookDelivery => ({
  id: 'd1',
  event: 'run.done',
  run_id: 'r1',
  conversation_id: 'c1',
  status: 'failed',
  attempts: 8,
  code: 503,
  error: 'status',
  next_at: null,
  happened_at: '2026-05-04T12:00:00Z',
  created_at: '2026-05-04T12:00:00Z',
  ended_at: '2026-05-05T12:00:00Z',
  ...over,
});

let root: Root;
let place: HTMLElement;
let asked: [method: string, path: string, body: unknown][];
let server: { hooks: WebhookEndpoint[]; deliveries: WebhookDelivery[] };

function given(method: string, path: string, body: unknown): object {
  if (path === '/v1/notifications') return method === 'GET' ? { events: [], after_minutes: 0 } : (body as object);
  if (path.endsWith('/secret')) return { secret: 'whsec_new' };
  if (path.includes('/deliveries?') || path.endsWith('/deliveries')) return { data: server.deliveries, next_cursor: null };
  if (path === '/v1/webhooks' && method === 'GET') return { data: server.hooks, next_cursor: null };
  if (path === '/v1/webhooks') {
    server.hooks = [hook()];
    return { ...hook(), secret: 'whsec_first' };
  }
  if (method === 'DELETE') server.hooks = [];
  return delivery();
}

beforeEach(() => {
  Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });
  setLanguage('en');
  asked = [];
  server = { hooks: [], deliveries: [] };
  vi.stubGlobal('fetch', async (address: string, request: RequestInit) => {
    const method = request.method ?? 'GET';
    const body: unknown = request.body ? JSON.parse(String(request.body)) : null;
    if (method !== 'GET') asked.push([method, address, body]);
    return Response.json({ status: 'ok', data: given(method, address, body), request_id: '' });
  });
  HTMLDialogElement.prototype.showModal = function showModal() {
    this.open = true;
  };
  place = document.body.appendChild(document.createElement('div'));
  root = createRoot(place);
});
afterEach(() => {
  act(() => root.unmount());
  place.remove();
  queryClient.clear();
  session.set({ user: null, state: 'out' });
  vi.unstubAllGlobals();
});

const settled = () =>
  act(async () => {
    for (let quiet = 0; quiet < 3; quiet = queryClient.isFetching() > 0 ? 0 : quiet + 1) await new Promise((done) => setTimeout(done, 0));
  });

async function show() {
  act(() =>
    root.render(
      <QueryClientProvider client={queryClient}>
        <WebhooksPage />
      </QueryClientProvider>,
    ),
  );
  await settled();
}

const field = (name: string) => place.querySelector<HTMLInputElement>(`[name="${name}"]`)!;
const button = (label: string) => [...document.querySelectorAll('button')].find((one) => one.textContent === label || one.getAttribute('aria-label') === label)!;

async function press(one: HTMLElement) {
  act(() => one.click());
  await settled();
}

describe('webhooks', () => {
  it('are made with what is picked, and their secret shown once', async () => {
    await show();
    expect(place.textContent).toContain('You have no webhooks.');
    expect(field('tenant')).toBeNull(); // for administrators
    field('url').value = 'https://example.org/hooks';
    await press(button('Make the webhook'));
    expect(asked).toEqual([]);
    expect(place.querySelector('[role=alert]')?.textContent).toBe('Pick at least one event.');
    field('event-question.waiting').checked = true;
    field('assistants').value = 'deploy, ';
    await press(button('Make the webhook'));
    expect(asked).toEqual([['POST', '/v1/webhooks', { url: 'https://example.org/hooks', description: '', events: ['question.waiting'], assistants: ['deploy'] }]]);
    expect(place.textContent).toContain('whsec_first');
    await press(button('I have copied it'));
    expect(place.textContent).not.toContain('whsec_first');
    expect(place.textContent).toContain('n8n');
  });

  it('of everybody’s runs are offered to administrators', async () => {
    session.set({ user: { id: 'u', email: 'root@example.org', role: 'admin' } as never, state: 'in' });
    await show();
    expect(field('tenant')).not.toBeNull();
  });

  it('say how they stand, are turned off, and get a new secret after a question', async () => {
    server.hooks = [hook(), hook({ id: 'w2', description: '', enabled: false, reason: 'gone', by_key: true, assistants: ['deploy'] })];
    await show();
    expect(place.textContent).toContain('off: its address says that it is gone');
    expect(place.textContent).toContain('made by an access key');
    await press(button('Turn off: n8n'));
    await press(button('Turn on: example.org'));
    expect(asked).toEqual([
      ['PATCH', '/v1/webhooks/w1', { enabled: false }],
      ['PATCH', '/v1/webhooks/w2', { enabled: true }],
    ]);
    await press(button('New secret: n8n'));
    expect(asked).toHaveLength(2);
    await press([...document.querySelectorAll('dialog button')].find((one) => one.textContent === 'New secret') as HTMLElement);
    expect(place.textContent).toContain('whsec_new');
    await press(button('Remove: n8n'));
    await press([...document.querySelectorAll('dialog button')].find((one) => one.textContent === 'Remove') as HTMLElement);
    expect(asked.at(-1)).toEqual(['DELETE', '/v1/webhooks/w1', null]);
  });

  it('list what was sent, and send it again', async () => {
    server.hooks = [hook()];
    server.deliveries = [delivery(), delivery({ id: 'd2', status: 'skipped', attempts: 0, code: 0, error: 'off' })];
    await show();
    await press(button('Send a test: n8n'));
    await settled(); // the list opens once it is under way
    expect(asked).toEqual([['POST', '/v1/webhooks/w1/test', null]]);
    const rows = [...place.querySelectorAll('.delivery-list li')].map((row) => row.textContent ?? '');
    expect(rows[0]).toContain('A run is done: failed');
    expect(rows[0]).toContain('8 attemptsHTTP 503');
    expect(rows[1]).toContain('the webhook is off');
    await press(place.querySelector<HTMLElement>('.delivery-list button')!);
    expect(asked.at(-1)).toEqual(['POST', '/v1/webhooks/w1/deliveries/d1/redeliver', null]);
  });
});

describe('mail', () => {
  it('is chosen by event, and after how long', async () => {
    await show();
    expect(field('mail-question.waiting').checked).toBe(false);
    field('mail-question.waiting').checked = true;
    field('after').value = '60';
    await press(button('Save'));
    expect(asked).toEqual([['PUT', '/v1/notifications', { events: ['question.waiting'], after_minutes: 60 }]]);
    expect(place.textContent).toContain('Saved.');
  });
});

it('the page speaks German', async () => {
  setLanguage('de');
  server.hooks = [hook()];
  await show();
  expect(place.textContent).toContain('Eine Frage wartet auf dich');
  expect(button('Probe senden: n8n')).toBeDefined();
});
