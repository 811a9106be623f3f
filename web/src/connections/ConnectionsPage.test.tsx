import { act } from 'react';
import { QueryClientProvider } from '@tanstack/react-query';
import { createRoot, type Root } from 'react-dom/client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Connection } from '../api/connections.ts';
import { queryClient } from '../api/queries.ts';
import { session } from '../api/session.ts';
import { setLanguage } from '../i18n/index.ts';
import ConnectionsPage from './ConnectionsPage.tsx';

type Account = NonNullable<Connection['account']>;

const accountFixture = (over: Partial<Account> = {}): Account => ({
  name: 'Ada Lovelace',
  scopes: ['openid', 'w_member_social'],
  refused: false,
  created_at: '2026-05-04T12:00:00Z',
  expires_at: '2126-06-04T12:00:00Z',
  ...over,
});

const linkedIn = (over: Partial<Connection> = {}): Connection => ({ name: 'linkedin', title: 'LinkedIn', configured: true, account: null, ...over });

let root: Root;
let place: HTMLElement;
let asked: [method: string, path: string, body: unknown][];
let left: string[];
let server: { list: Connection[]; reach: boolean; told: boolean; refusal: { code: number; reason: string; message: string } | null };

function given(method: string, path: string, body: unknown): object {
  if (method === 'GET') return { data: server.list };
  if (path.endsWith('/begin')) return { url: 'https://www.linkedin.com/oauth/v2/authorization?state=s' };
  if (method === 'DELETE') {
    server.list = [linkedIn()];
    return { told: server.told };
  }
  server.list = [linkedIn({ configured: server.reach && (body as { client_secret: string }).client_secret !== '' })];
  return {};
}

beforeEach(() => {
  Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });
  setLanguage('en');
  history.replaceState(null, '', '/settings/connections');
  asked = [];
  left = [];
  server = { list: [linkedIn()], reach: true, told: true, refusal: null };
  vi.spyOn(location, 'assign').mockImplementation((to) => void left.push(String(to)));
  vi.stubGlobal('fetch', async (address: string, request: RequestInit) => {
    const method = request.method ?? 'GET';
    const body: unknown = request.body ? JSON.parse(String(request.body)) : null;
    if (method !== 'GET') asked.push([method, address, body]);
    if (method !== 'GET' && server.refusal) {
      const { code, reason, message } = server.refusal;
      return Response.json({ status: 'error', error: { code: 'server_error', message, details: { reason } }, request_id: '' }, { status: code });
    }
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
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

const settled = () =>
  act(async () => {
    for (let quiet = 0; quiet < 3; quiet = queryClient.isFetching() > 0 ? 0 : quiet + 1) await new Promise((done) => setTimeout(() => requestAnimationFrame(done), 0));
  });

async function show() {
  act(() =>
    root.render(
      <QueryClientProvider client={queryClient}>
        <ConnectionsPage />
      </QueryClientProvider>,
    ),
  );
  await settled();
}

const asAdmin = () => session.set({ user: { id: 'u', email: 'root@example.org', role: 'admin' } as never, state: 'in' });
const labels = () => [...place.querySelectorAll('.connections .card .flex-row:last-child button')].map((one) => one.getAttribute('aria-label'));
const button = (label: string) => place.querySelector<HTMLElement>(`[aria-label="${label}"]`)!;
const inDialog = (text: string) => [...document.querySelectorAll<HTMLElement>('dialog button')].find((one) => one.textContent === text)!;
const status = () => place.querySelector('[role=status]')!;
const alerts = () => [...place.querySelectorAll('[role=alert]')].map((one) => one.textContent);

async function press(one: HTMLElement) {
  one.focus();
  act(() => one.click());
  await settled();
}

describe('connections', () => {
  it('say so where there is nothing to connect', async () => {
    server.list = [];
    await show();
    expect(place.textContent).toContain('There is nothing to connect here.');
  });

  it('that nobody set up leave a person to an administrator', async () => {
    server.list = [linkedIn({ configured: false })];
    await show();
    expect(place.textContent).toContain('Not set up yet. An administrator has to set it up first.');
    expect(labels()).toEqual([]);
  });

  it('send the browser off, which comes back to this page', async () => {
    await show();
    expect(place.textContent).toContain('Not connected.');
    expect(labels()).toEqual(['Connect LinkedIn']);
    await press(button('Connect LinkedIn'));
    expect(asked).toEqual([['POST', '/v1/connections/linkedin/begin', { return: '/settings/connections' }]]);
    expect(left).toEqual(['https://www.linkedin.com/oauth/v2/authorization?state=s']);
  });

  it('say in the reader’s language why one does not begin, at once and by its button', async () => {
    setLanguage('de');
    server.refusal = { code: 503, reason: 'not_configured', message: 'This server reaches no other.' };
    await show();
    await press(button('LinkedIn verbinden'));
    expect(asked).toHaveLength(1); // an answer, not a failure to try again
    expect(left).toEqual([]);
    expect(alerts()).toEqual(['Der Ort ist nicht eingerichtet oder kennt diese Installation nicht. Die Verwaltung prüft seinen Client.']);
    expect(document.activeElement).toBe(button('LinkedIn verbinden'));
  });

  it('say whose account it is, since when and until when, and end when a person says so', async () => {
    server.list = [linkedIn({ account: accountFixture() })];
    await show();
    const facts = [...place.querySelectorAll('dd')].map((one) => one.textContent);
    expect(facts).toEqual(['Ada Lovelace', expect.stringMatching(/May.* 2026/), expect.stringMatching(/June.* 2126/), 'openid, w_member_social']);
    expect(labels()).toEqual(['Disconnect LinkedIn']);
    await press(button('Disconnect LinkedIn'));
    expect(document.querySelector('dialog')?.textContent).toContain('Disconnect LinkedIn?');
    await press(inDialog('Keep it'));
    expect(asked).toEqual([]);
    expect(document.activeElement).toBe(button('Disconnect LinkedIn'));
    await press(button('Disconnect LinkedIn'));
    await press(inDialog('Disconnect'));
    expect(asked).toEqual([['DELETE', '/v1/connections/linkedin', null]]);
    expect(status().textContent).toBe('LinkedIn is disconnected, and took its access back.');
    expect(document.activeElement).toBe(status());
    expect(place.textContent).toContain('Not connected.');
  });

  it('say when the place was not told, or did not answer', async () => {
    server.list = [linkedIn({ account: accountFixture({ name: '', expires_at: null }) })];
    server.told = false;
    await show();
    expect([...place.querySelectorAll('dt')].map((one) => one.textContent)).toEqual(['Connected since', 'What was granted']);
    await press(button('Disconnect LinkedIn'));
    await press(inDialog('Disconnect'));
    expect(status().textContent).toContain('It did not say that it took its access back');
  });

  it('that are refused ask to be connected again', async () => {
    server.list = [linkedIn({ account: accountFixture({ refused: true }) })];
    await show();
    expect(place.textContent).toContain('LinkedIn does not take your account any more. Connect it again.');
    expect(place.textContent).not.toContain('Access until');
    expect(labels()).toEqual(['Connect LinkedIn again', 'Disconnect LinkedIn']);
    await press(button('Connect LinkedIn again'));
    expect(left).toHaveLength(1);
  });

  it('whose access has run out are no trouble: it is renewed', async () => {
    server.list = [linkedIn({ account: accountFixture({ expires_at: '2020-01-01T12:00:00Z' }) })];
    await show();
    expect(place.textContent).toContain('it is renewed at the next use');
    expect(labels()).toEqual(['Disconnect LinkedIn']);
  });

  it('whose place is gone can only be ended', async () => {
    server.list = [linkedIn({ configured: false, account: accountFixture() })];
    await show();
    expect(place.textContent).toContain('This place is not set up here any more');
    expect(labels()).toEqual(['Disconnect LinkedIn']);
  });
});

describe('what the browser came back with', () => {
  it('is said once, and leaves the address', async () => {
    history.replaceState(null, '', '/settings/connections?x=1#connected=linkedin');
    server.list = [linkedIn({ account: accountFixture() })];
    await show();
    expect(status().textContent).toBe('LinkedIn is connected, as Ada Lovelace.');
    expect(location.pathname + location.search + location.hash).toBe('/settings/connections?x=1');
    await press(button('Disconnect LinkedIn'));
    await press(inDialog('Disconnect'));
    expect(place.textContent).not.toContain('as Ada Lovelace');
  });

  it('is not believed where the list says otherwise', async () => {
    history.replaceState(null, '', '/settings/connections#connected=linkedin');
    await show();
    expect(status().textContent).toBe('');
    expect(location.hash).toBe('');
  });

  it.each([
    ['denied', 'You did not allow the connection there. Begin again if that was by mistake.'],
    ['state_unknown', 'This connection was made already, or took longer than ten minutes. Begin again.'],
    ['call+555', 'The account was not connected. Begin again; if it stays so, tell whoever runs this server.'],
    ['toString', 'The account was not connected. Begin again; if it stays so, tell whoever runs this server.'],
  ])('is a reason: %s', async (reason, sentence) => {
    history.replaceState(null, '', `/settings/connections#not_connected=${reason}`);
    await show();
    expect(alerts()).toEqual([sentence]);
    expect(location.hash).toBe('');
  });
});

describe('an administrator', () => {
  beforeEach(asAdmin);

  async function setClient(id: string, secret: string) {
    await press(button('Set the client of LinkedIn'));
    const field = (name: string) => document.querySelector<HTMLInputElement>(`dialog [name="${name}"]`)!;
    expect([field('client_id').value, field('client_secret').value, field('client_secret').type]).toEqual(['', '', 'password']);
    field('client_id').value = id;
    field('client_secret').value = secret;
    await press(inDialog('Set'));
  }

  it('is told what to do, and sets the client', async () => {
    server.list = [linkedIn({ configured: false })];
    await show();
    expect(place.textContent).toContain(`${location.origin}/v1/connections/linkedin/callback`);
    expect(place.querySelector('.steps a')?.getAttribute('href')).toBe('/docs/setConnectionClient');
    await setClient(' 86abc ', 'WPL_AP1.x');
    expect(asked).toEqual([['PUT', '/v1/connections/linkedin/client', { client_id: '86abc', client_secret: 'WPL_AP1.x' }]]);
    expect(status().textContent).toBe('The client of LinkedIn is set. People can connect.');
    expect(document.querySelector('dialog')).toBeNull();
    expect(document.body.innerHTML).not.toContain('WPL_AP1');
    expect(labels()).toEqual(['Connect LinkedIn', 'Set the client of LinkedIn', 'Take the client back: LinkedIn']);
  });

  it('is told when people still cannot connect', async () => {
    server.list = [linkedIn({ configured: false })];
    server.reach = false;
    await show();
    await setClient('86abc', 'x');
    expect(status().textContent).toContain('LIMINAL_WEB_ALLOW');
  });

  it('takes the client back, after a question', async () => {
    await show();
    await press(button('Take the client back: LinkedIn'));
    expect(asked).toEqual([]);
    await press(inDialog('Take the client back'));
    expect(asked).toEqual([['PUT', '/v1/connections/linkedin/client', { client_id: '', client_secret: '' }]]);
    expect(status().textContent).toBe('The client of LinkedIn is taken back.');
    expect(place.textContent).toContain('Not set up yet.');
  });
});

it('the page speaks German', async () => {
  setLanguage('de');
  server.list = [linkedIn({ account: accountFixture({ refused: true }) })];
  await show();
  expect(place.textContent).toContain('LinkedIn nimmt dein Konto nicht mehr an.');
  expect(labels()).toEqual(['LinkedIn neu verbinden', 'LinkedIn trennen']);
});
