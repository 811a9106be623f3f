import { accessible, expect, test } from './stage.ts';

// Requirements: API-10
test('anybody reads the API, and no other host is asked', async ({ page }) => {
  const asked = new Set<string>();
  page.on('request', (request) => asked.add(new URL(request.url()).host + (request.url().includes('/v1/') ? new URL(request.url()).pathname : '')));
  await page.goto('/docs');
  await expect(page.getByRole('heading', { name: 'API reference', level: 1 })).toBeVisible();
  const host = new URL(page.url()).host;
  expect([...asked].filter((one) => !one.startsWith(host))).toEqual([]);
  expect([...asked].filter((one) => one.includes('/v1/'))).toEqual([`${host}/v1/openapi.json`]); // nobody is asked who they are
  for (const part of ['Signing in', 'The envelope', 'Streams']) await expect(page.getByRole('heading', { name: part })).toBeVisible();
  await expect(page.getByRole('row', { name: /message_done/ })).toBeVisible();

  const document = await (await page.request.get('/v1/openapi.json')).json();
  const operations = Object.values(document.paths as Record<string, object>).flatMap((methods) => Object.keys(methods)).length;
  await expect(page.getByRole('navigation', { name: 'Operations' }).locator('li')).toHaveCount(operations);
  await accessible(page, 'the overview of the reference');
  await page.getByLabel('Theme').selectOption('dark');
  await accessible(page, 'the overview of the reference, dark');
});

test('an operation has an address of its own, and says what it takes, gives and refuses', async ({ page }) => {
  await page.goto('/docs/chat');
  await expect(page.getByRole('heading', { name: 'Say something: blocks for the answer, or streams it' })).toBeFocused();
  await expect(page).toHaveTitle('POST /v1/chat – Liminal');
  await expect(page.getByText('Needs a sign-in')).toBeVisible();
  await expect(page.getByLabel('bash')).toContainText('Authorization: Bearer $TOKEN');
  await expect(page.getByLabel('bash')).toContainText('Idempotency-Key');
  await expect(page.locator('.member-name', { hasText: /^message$/ }).first()).toBeVisible();
  await expect(page.getByRole('row', { name: /^409 conflict/ })).toBeVisible();
  await expect(page.getByRole('row', { name: /^token/ })).toBeVisible();
  // What a type is made of is shown to whoever looks into it.
  const inside = page.locator('details', { has: page.getByText('What Interrupt is', { exact: true }) }).first();
  await expect(inside.locator('.members')).toHaveCount(0);
  await inside.getByText('What Interrupt is', { exact: true }).click();
  await expect(inside.locator('.member-name', { hasText: 'interrupt_id' }).first()).toBeVisible();
  await page.locator('details.example').last().locator('summary').click();
  await expect(page.getByLabel('json').last()).toContainText('"request_id"');
  await accessible(page, 'an operation');
  await page.getByLabel('Theme').selectOption('dark');
  await accessible(page, 'an operation, dark');
  await page.goto('/docs/nothing');
  await expect(page.getByRole('alert')).toHaveText('There is no such operation.');
});

test('an operation is found and opened with the keyboard alone', async ({ page }) => {
  await page.goto('/docs');
  await expect(page.getByRole('heading', { name: 'API reference', level: 1 })).toBeVisible();
  await page.keyboard.press('/');
  await expect(page.getByLabel('Find an operation')).toBeFocused();
  await page.keyboard.type('patch contexts');
  await expect(page.getByRole('status').filter({ hasText: '1 operation' })).toBeVisible();
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/docs\/changeContext$/);
  await expect(page.locator('h1')).toBeFocused();
  await page.keyboard.press('/');
  await page.keyboard.press('Escape');
  await page.getByLabel('Find an operation').fill('no such words');
  await expect(page.getByText('No operation has these words.')).toBeVisible();
  await page.goBack();
  await expect(page.getByRole('heading', { name: 'API reference', level: 1 })).toBeVisible();
});

test('the address of the command is copied', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.goto('/docs/me');
  await page.getByRole('button', { name: 'Copy', exact: true }).first().click();
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe(`curl "${new URL(page.url()).origin}/v1/auth/me" \\\n  -H "Authorization: Bearer $TOKEN"`);
});

test('it is read on a phone, in German, and leads back to the program', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 780 });
  await page.goto('/docs/listMessages');
  await page.getByRole('button', { name: /Deutsch/ }).click();
  await expect(page.getByRole('heading', { name: 'Wenn es scheitert' })).toBeVisible();
  await accessible(page, 'an operation on a phone');
  const middles = await page.locator('.docs-home, .docs > header button, .docs > header a.button').evaluateAll((all) => all.map((one) => one.getBoundingClientRect()).map((it) => (it.top + it.bottom) / 2));
  expect(Math.max(...middles) - Math.min(...middles)).toBeLessThan(4); // one row
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  await page.getByRole('button', { name: 'Operationen' }).click();
  await page.getByRole('link', { name: /Rename, archive or pin/ }).click();
  await expect(page).toHaveURL(/\/docs\/changeConversation$/);
  await expect(page.getByLabel('Operation suchen')).toBeHidden();
  await page.getByRole('link', { name: 'Liminal öffnen' }).click();
  await expect(page.getByLabel('E-Mail')).toBeVisible();
});
