import { act } from 'react';
import { QueryClientProvider } from '@tanstack/react-query';
import { createRoot, type Root } from 'react-dom/client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { leadsOut, type Consent } from '../api/consent.ts';
import { queryClient } from '../api/queries.ts';
import { setLanguage } from '../i18n/index.ts';
import ConsentPage from './ConsentPage.tsx';

const search = '?client_id=c1&redirect_uri=https%3A%2F%2Fprogram.example%2Fback&state=s%20%26';

let root: Root;
let place: HTMLElement;
let asked: [address: string, body: unknown][];
let left: string[];
let server: { consent: Partial<Consent>; factor: boolean; wrong: string; redirect: string };

beforeEach(() => {
  Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });
  setLanguage('en');
  history.replaceState(null, '', `/consent${search}`);
  asked = [];
  left = [];
  server = { consent: {}, factor: false, wrong: '', redirect: 'https://program.example/back?code=limc_x' };
  vi.stubGlobal('fetch', async (address: string, request: RequestInit) => {
    if (request.method === 'POST') {
      asked.push([address, JSON.parse(String(request.body))]);
      return Response.json({ status: 'ok', data: { redirect: server.redirect }, request_id: '' });
    }
    if (address === '/v1/auth/mfa') return Response.json({ status: 'ok', data: { enabled: server.factor, recovery_codes_left: 3 }, request_id: '' });
    asked.push([address, null]);
    if (server.wrong) {
      return Response.json({ status: 'error', error: { code: 'validation_error', message: server.wrong, details: null }, request_id: '' }, { status: 400 });
    }
    const consent: Consent = { client_name: 'Claude', client_host: '', redirect_kind: 'site', redirect_host: 'program.example', scopes: ['mcp', 'chat', 'tools'], ...server.consent };
    return Response.json({ status: 'ok', data: consent, request_id: '' });
  });
  place = document.body.appendChild(document.createElement('div'));
  root = createRoot(place);
});
afterEach(() => {
  act(() => root.unmount());
  place.remove();
  queryClient.clear();
  vi.unstubAllGlobals();
  history.replaceState(null, '', '/');
});

const settled = () =>
  act(async () => {
    for (let quiet = 0; quiet < 3; quiet = queryClient.isFetching() > 0 ? 0 : quiet + 1) await new Promise((done) => setTimeout(done, 0));
  });

async function show() {
  act(() =>
    root.render(
      <QueryClientProvider client={queryClient}>
        <ConsentPage leave={(to) => left.push(to)} />
      </QueryClientProvider>,
    ),
  );
  await settled();
}

const field = (name: string) => place.querySelector<HTMLInputElement>(`[name="${name}"]`)!;

async function press(label: string) {
  act(() => [...place.querySelectorAll('button')].find((one) => one.textContent === label)!.click());
  await settled();
}

describe('a program that asks to be let in', () => {
  it('is shown with where it is as a fact and its name as a claim, and gets what was left ticked', async () => {
    await show();
    expect(asked).toEqual([[`/v1/oauth/consent${search.replaceAll('%20', '+')}`, null]]);
    expect(place.textContent).toContain('“Claude” wants to act for you');
    expect(place.querySelector('dd')?.textContent).toBe('program.example');
    expect(place.textContent).toContain('nobody has checked it. It registered itself');
    expect(place.querySelector('[name=scope-mcp]')).toBeNull();
    field('scope-tools').checked = false;
    await press('Let it in');
    expect(asked[1]).toEqual(['/v1/oauth/consent', { client_id: 'c1', redirect_uri: 'https://program.example/back', state: 's &', allow: true, scopes: ['mcp', 'chat'] }]);
    expect(left).toEqual([server.redirect]);
    expect(place.textContent).toContain('this page can be closed');
  });

  it('is refused', async () => {
    await show();
    await press('Refuse');
    expect(asked[1]?.[1]).toMatchObject({ allow: false, client_id: 'c1' });
    expect(left).toEqual([server.redirect]);
  });

  it('takes a code of an account that has a second factor', async () => {
    server.factor = true;
    await show();
    field('proof').value = '123 456';
    await press('Let it in');
    expect(asked[1]?.[1]).toMatchObject({ allow: true, code: '123456' });
  });

  it('is told of on one’s own computer, in German', async () => {
    setLanguage('de');
    server.consent = { client_name: '', client_host: 'claude.ai', redirect_kind: 'computer', redirect_host: '127.0.0.1:4711' };
    await show();
    expect(place.querySelector('dd')?.textContent).toBe('ein Programm auf diesem Rechner (127.0.0.1:4711)');
    expect(place.textContent).toContain('Ein Programm, das keinen Namen nennt');
    expect(place.textContent).toContain('claude.ai beschreibt es.');
  });

  it('is not decided on when what it asks for is not right, and leads to no script', async () => {
    server.wrong = 'There is no such client here.';
    await show();
    expect(place.querySelector('[role=alert]')?.textContent).toBe('There is no such client here.');
    expect(place.querySelector('form')).toBeNull();
    for (const bad of ['javascript:alert(1)', 'data:text/html,x', '/back', 'app:/x', 'app:///x', 'file://host/x', 'blob://x/y', 'JavaScript://host/%0Aalert(1)']) expect(leadsOut(bad)).toBe(false);
    for (const good of ['https://x.example/?code=1', 'http://127.0.0.1:1/', 'com.example.app:/back', 'cursor://anysphere.cursor-mcp/oauth/callback?code=1']) expect(leadsOut(good)).toBe(true);
  });
});
