// The overview above the conversations: the inbox, and the page of an assistant
// of which the server keeps nothing. The assistant is that of the pack that
// ships, over its examples, without a language model.

import type { Page } from '@playwright/test';
import { signOut } from './account.ts';
import { asAdministrator } from './change.ts';
import { accessible, answered, box, enter, expect, say, test, which, what, workflow } from './stage.ts';

const overview = (page: Page) => page.getByRole('region', { name: 'Overview' });
const head = (page: Page) => page.locator('.surface-head');
const kept = (page: Page) => page.evaluate(() => localStorage.getItem('liminal.kept'));

// The first account is the administrator's.
test('the address of an administrator’s figures of an assistant leads to its usage', async ({ page }) => {
  await asAdministrator(page);
  const asked = page.waitForRequest((request) => request.url().includes('/v1/insights') && request.url().includes('surface=paliadin'));
  await page.goto('/admin/paliadin');
  await expect(page).toHaveURL(/\/operate\/usage\?surface=paliadin$/);
  await asked;
  const of = page.locator('.filter select');
  await expect(of).toHaveValue('paliadin');
  await of.selectOption({ label: 'Everything' });
  await expect(page).toHaveURL(/\/operate\/usage$/);
});

// Requirements: API-20 (401 for the API; 302 to /login for pages)
test('a stranger is sent from a page to the door, and back once they are in; the API refuses', async ({ page, request }) => {
  const asked = await request.get('/paliadin?x=1', { headers: { Accept: 'text/html' }, maxRedirects: 0 });
  expect(asked.status()).toBe(302);
  expect(asked.headers()['location']).toBe('/login?next=%2Fpaliadin%3Fx%3D1');
  const turn = await request.post('/v1/chat', { data: { message: 'x' } });
  expect(turn.status()).toBe(401);

  await enter(page, '/paliadin');
  await expect(page).toHaveURL(/\/paliadin$/);
  await expect(head(page).getByRole('heading', { name: 'Paliadin' })).toBeVisible();
  const again = await page.goto('/paliadin');
  expect(again?.request().redirectedFrom(), 'who is in is sent nowhere').toBeNull();
  // Who comes without the mark of a page, though signed in, goes on from the door by themselves.
  await page.context().clearCookies({ name: 'liminal_in' });
  await page.goto('/contexts');
  await expect(page).toHaveURL(/\/contexts$/);
  await expect(page.getByRole('heading', { level: 1, name: 'Contexts' })).toBeVisible();
});

// Requirements: GRND-01, GRND-34 (a click sends one), GRND-35, GRND-36 (the words), GRND-44 (first-use disclosure), GRND-46 (no popups, toasts or modals), GRND-47 (cleared at sign-out; no service worker caches it), UI-31 (Paliadin's own words; Stop and New conversation; persistence tooltip)
test('an assistant of which the server keeps nothing lives in this browser only', async ({ page, watch }) => {
  watch.expected.push(/401/); // what was being asked while they sign out
  const sent: { history?: { role: string; content: string }[]; conversation_id?: string }[] = [];
  page.on('request', (request) => {
    if (request.method() === 'POST' && request.url().endsWith('/v1/chat')) sent.push(request.postDataJSON() as (typeof sent)[number]);
  });
  await page.addInitScript(() => void Reflect.deleteProperty(window, 'WebSocket'));
  await enter(page);
  await expect(overview(page).getByRole('link').nth(0)).toContainText('Inbox');
  await expect(overview(page).getByRole('link').nth(1)).toHaveText('Paliadin');
  await overview(page).getByRole('link', { name: 'Paliadin' }).click();
  await expect(overview(page).getByRole('link', { name: 'Paliadin' })).toHaveAttribute('aria-current', 'page');
  await expect(page.getByRole('heading', { name: 'How can I help?' })).toBeVisible();
  await expect(head(page).getByTitle(/^Conversation lives in this browser only\./)).toBeVisible();
  await expect(head(page)).toContainText("I know your matters and Paliad's knowledge base.");
  const told = page.getByRole('region', { name: 'Before you write to Paliadin' });
  await expect(told).toContainText('goes to the language model');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await accessible(page, 'an assistant before the first message');
  await told.getByRole('button', { name: 'Understood' }).click();
  await expect(told).toHaveCount(0);
  await expect(box(page)).toBeFocused();

  let release = () => {};
  const held = new Promise<void>((go) => (release = go));
  await page.route('**/v1/runs/*/events', async (route) => {
    await held;
    await route.fallback();
  });
  await page.getByRole('button', { name: 'Explain Klageerwiderung.' }).click();
  await expect(page.getByText('Paliadin is thinking …').first()).toBeVisible();
  await expect(page.getByRole('button', { name: 'Stop' })).toBeEnabled();
  release();
  await answered(page);
  expect(sent[0]!.conversation_id).toBeUndefined();
  await say(page, 'Which matters do I have?');
  await expect(page.locator('.turn')).toHaveCount(2);
  await answered(page);
  expect(sent[1]!.history?.map((one) => one.role)).toEqual(['user', 'assistant']);
  expect(sent[1]!.history?.[0]!.content).toBe('Explain Klageerwiderung.');

  await page.reload();
  await expect(page.locator('.turn')).toHaveCount(2);
  await expect(page.locator('.turn .prose').first()).not.toBeEmpty();
  await expect(page.locator('.conversations li'), 'it is among no conversations').toHaveCount(0);
  expect(await kept(page)).toContain('Which matters do I have?');
  const left = await page.evaluate(async () => [(await navigator.serviceWorker?.getRegistrations())?.length ?? 0, (await caches.keys()).length]);
  expect(left, 'no worker keeps answers').toEqual([0, 0]);

  await signOut(page);
  expect(await kept(page)).toBeNull();
  await enter(page, '/paliadin');
  await expect(page.getByRole('heading', { name: 'How can I help?' })).toBeVisible();
  await expect(page.locator('.turn')).toHaveCount(0);

  await page.getByRole('button', { name: 'What does revocation action mean?' }).click(); // the tenth starter
  await answered(page);
  await expect.poll(() => kept(page)).toContain('revocation');
  await head(page).getByRole('button', { name: 'New conversation' }).click();
  await expect(page.getByRole('heading', { name: 'How can I help?' })).toBeVisible();
  await expect.poll(async () => (await kept(page)) ?? '').not.toContain('revocation');
});

// Requirements: GRND-01, GRND-37 (title; tagline; starters; empty)
test('the assistant is reached on a phone through the drawer, and speaks German there', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 800 });
  await enter(page);
  await page.evaluate(() => localStorage.setItem('liminal.language', 'de'));
  await page.reload();
  await page.getByRole('button', { name: 'Unterhaltungen zeigen' }).click();
  await page.getByRole('region', { name: 'Übersicht' }).getByRole('link', { name: 'Paliadin' }).click();
  await expect(page.getByRole('heading', { name: 'Was kann ich für dich tun?' })).toBeVisible();
  await expect(page.locator('.empty button').first()).toHaveText('Was steht heute an?');
  await expect(head(page).getByTitle(/^Die Unterhaltung liegt nur in diesem Browser\./)).toBeVisible();
  await expect(page.locator('nav.tabs')).toBeVisible();
  await expect(page.locator('nav.tabs').getByText('Paliadin'), 'it has no place in the bar below').toHaveCount(0);
  await accessible(page, 'an assistant on a phone');
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth)).toBe(true);
  await page.getByRole('button', { name: 'Neue Unterhaltung' }).waitFor({ state: 'detached' });
});

test('the inbox lists what waits, and leads to it', async ({ page }) => {
  await enter(page);
  await page.goto('/inbox');
  await expect(page.getByText('Nothing waits for you.')).toBeVisible();
  await page.goto('/');
  await workflow(page, 'asks', [which, what, { id: 'done', type: 'end', response: 'Done.' }]);
  await say(page, 'Audit this');
  await expect(page.getByRole('region', { name: 'Needs your answer' })).toBeVisible();
  const inbox = overview(page).getByRole('link', { name: /Inbox/ });
  await expect(inbox).toContainText('1 thing waits for you', { timeout: 90_000 });
  await inbox.click();
  const row = page.getByRole('list', { name: 'Inbox' }).getByRole('listitem');
  await expect(row).toHaveCount(1);
  await expect(row).toContainText('A question in a conversation');
  await expect(row).toContainText('Audit this');
  await accessible(page, 'the inbox');
  await row.getByRole('link').first().click();
  await expect(page.getByRole('region', { name: 'Needs your answer' })).toBeVisible();
});
