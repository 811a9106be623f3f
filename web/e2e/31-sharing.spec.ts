// What one person gives another, and programs: shares, and the list of what is
// shared with one; access keys; accounts elsewhere that tools act with; and the pages of records, with the chips that
// lead there.

import type { Page } from '@playwright/test';
import { inside } from './account.ts';
import { accessible, answered, enter, expect, say, test } from './stage.ts';

async function call<T>(page: Page, method: string, path: string, data?: unknown): Promise<T> {
  const token = await page.evaluate(() => sessionStorage.getItem('liminal.token'));
  const got = await page.request.fetch(new URL(path, page.url()).href, { method, headers: { Authorization: `Bearer ${token}` }, ...(data ? { data } : {}) });
  expect(got.ok(), await got.text()).toBe(true);
  return ((await got.json()) as { data: T }).data;
}

// The first account is partner Keller of the examples, who has matters.
test('a record has a page, which its list and the chips of an answer lead to', async ({ page }) => {
  await enter(page);
  const { data: sources } = await call<{ data: { name: string; entities: { name: string; list?: string }[] }[] }>(page, 'GET', '/v1/sources');
  const source = sources.find((one) => one.name === 'matters')!;
  const listed = source.entities.find((one) => one.list)!;
  await page.goto('/paliadin');
  await say(page, 'Which deadlines are due this week?');
  const turn = await answered(page);
  const chip = turn.locator('.chips a, .prose a').first();
  await expect(chip).toHaveAttribute('href', /^\/r\/matters\//);
  await chip.click();
  await expect(page).toHaveURL(/\/r\/matters\//);
  await expect(page.locator('.record h1, .record h2').first()).toBeVisible();
  await accessible(page, 'a record');

  await page.goto(`/r/matters/${listed.name}`);
  const first = page.locator('.record a[href^="/r/matters/"]').first();
  await first.click();
  await expect(page).toHaveURL(new RegExp('/r/matters/.+/.+'));
  await page.goto('/r/matters/nothing/1');
  await expect(page.getByText('no such record').or(page.locator('.record, .plain-page').getByRole('alert')).or(page.locator('.nothing, .hint')).first()).toBeVisible();
});

test('what is shared with somebody stands in their inbox until it is taken back', async ({ page, browser, watch }) => {
  watch.expected.push(/404/); // nobody of that name
  await enter(page);
  const other = await (await browser.newContext()).newPage();
  const email = await enterAs(other, page);
  const { id } = await call<{ id: string }>(page, 'POST', '/v1/contexts', { name: 'Leases' });
  await page.goto(`/contexts/${id}`);
  const card = page.getByRole('region', { name: /^Shared with/ });
  await card.getByLabel('With whom').fill('nobody@example.org');
  await card.getByRole('button', { name: 'Share', exact: true }).click();
  await expect(card.getByRole('alert')).toBeVisible();
  await card.getByLabel('With whom').fill(email);
  await card.getByRole('button', { name: 'Share', exact: true }).click();
  await expect(card.getByRole('listitem')).toContainText(email);
  await accessible(page, 'what is shared');

  await other.goto('/inbox');
  const shared = other.getByRole('region', { name: 'Shared with me' });
  await expect(shared.getByRole('listitem')).toHaveCount(1);
  await expect(shared).toContainText('Context · from person');
  await accessible(other, 'what is shared with somebody');
  await shared.getByRole('link', { name: 'Leases' }).click();
  await expect(other.getByRole('heading', { name: 'Leases' })).toBeVisible();

  await card.getByRole('button', { name: `Take back from ${email}` }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Take back' }).click();
  await expect(card.getByText('Nobody but you has this.')).toBeVisible();
  await other.goto('/inbox');
  await expect(shared.getByText('Nobody shares anything with you.')).toBeVisible();
});

/** Somebody else, in a browser of their own. */
async function enterAs(other: Page, page: Page): Promise<string> {
  const email = await enter(other, page.url());
  await inside(other);
  return email;
}

test('a key is made, shown once, works, and is ended', async ({ page, watch }) => {
  watch.expected.push(/401/); // a key that has ended
  await enter(page);
  await page.goto('/settings/keys');
  await expect(page.getByText('You have no access keys.')).toBeVisible();
  await page.getByLabel('What it is for').fill('nightly report');
  await page.getByRole('checkbox', { name: /^Read/ }).check();
  await page.getByRole('button', { name: 'Make the key' }).click();
  const key = (await page.locator('code', { hasText: /^lim_/ }).first().innerText()).trim();
  await accessible(page, 'a key that is shown');
  const asked = (method: string, path: string) => page.request.fetch(new URL(path, page.url()).href, { method, headers: { 'X-Api-Key': key } });
  expect((await asked('GET', '/v1/conversations')).status()).toBe(200);
  expect((await asked('POST', '/v1/chat')).status()).toBe(403);
  await page.reload();
  await expect(page.locator('code', { hasText: key })).toHaveCount(0);
  await page.getByRole('button', { name: 'End the key “nightly report”' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'End', exact: true }).click();
  await expect(page.getByText('1 key that has ended')).toBeVisible();
  expect((await asked('GET', '/v1/conversations')).status()).toBe(401);
});

test('accounts elsewhere have a page, which says what has to be done first', async ({ page }) => {
  await enter(page);
  await page.goto('/settings/connections');
  const one = page.getByRole('region', { name: 'LinkedIn' });
  await expect(one).toContainText('Not set up yet.');
  await expect(one.getByRole('button', { name: 'Connect LinkedIn' })).toHaveCount(0);
  await accessible(page, 'connections');

  // Where a server sends back a person of whom it is not known where they began.
  await page.goto('/settings#not_connected=state_unknown');
  await expect(page.getByRole('alert')).toHaveText('This connection was made already, or took longer than ten minutes. Begin again.');
  await expect(page).toHaveURL(/\/settings\/connections$/);
  await page.reload();
  await expect(one).toBeVisible();
  await expect(page.getByRole('alert')).toHaveCount(0);

  await page.setViewportSize({ width: 390, height: 800 });
  await page.getByRole('navigation', { name: 'Settings', exact: true }).getByRole('link', { name: 'General' }).click();
  await page.getByRole('button', { name: 'DE, Deutsch' }).click();
  await page.getByRole('link', { name: 'Verbindungen' }).click();
  await expect(page.getByRole('heading', { name: 'Verbindungen', level: 1 })).toBeVisible();
  await expect(one).toContainText('Noch nicht eingerichtet.');
  await accessible(page, 'connections in German on a phone');
  expect(await page.evaluate(() => [...document.querySelectorAll('html, #page')].some((it) => it.scrollWidth > it.clientWidth))).toBe(false);
});
