import { accessible, box, enter, expect, test } from './stage.ts';

test.describe.configure({ mode: 'serial' });

// Runs first: it is the only one to meet a program nobody has an account on.
test('the first person is offered the administrator account', async ({ page }) => {
  // No form before the server has said which: it would change under a person's hands.
  let answer = () => {};
  const held = new Promise<void>((resolve) => (answer = resolve));
  await page.route('**/v1/config/ui', async (route) => {
    await held;
    await route.continue();
  });
  const asked = page.waitForRequest('**/v1/config/ui');
  await page.goto('/');
  await asked;
  await expect(page.locator('form')).toHaveCount(0);
  answer();
  await expect(page.getByRole('heading', { name: 'Create the first account' })).toBeVisible();
  await expect(page.getByText('The first one you create is the administrator.')).toBeVisible();
  await accessible(page, 'the door');
  await enter(page);
  await page.getByRole('button', { name: 'Account' }).click();
  await expect(page.getByText('Administrator')).toBeVisible();
});

// Requirements: UI-17
test('a person signs out and in again, and a wrong password says so', async ({ page, watch }) => {
  watch.expected.push(/401/);
  const email = await enter(page);
  await page.getByRole('button', { name: 'Account' }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await expect(page.getByRole('heading', { name: 'Sign in' })).toBeVisible();
  expect(await page.evaluate(() => sessionStorage.length)).toBe(0);

  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill('not the password');
  await page.locator('button[type=submit]').click();
  await expect(page.getByRole('alert')).not.toBeEmpty();

  await page.getByLabel('Password').fill('correct horse battery');
  await page.locator('button[type=submit]').click();
  await expect(box(page)).toBeVisible();
});

// Requirements: UI-17
test('a spent access token is renewed once, unnoticed', async ({ page, watch }) => {
  watch.expected.push(/401/);
  await enter(page);
  let renewed = 0;
  page.on('request', (request) => {
    if (request.url().endsWith('/v1/auth/refresh')) renewed++;
  });
  await page.evaluate(() => sessionStorage.setItem('liminal.token', 'spent'));
  await page.reload();
  await expect(box(page)).toBeVisible();
  expect(renewed).toBe(1);
});
