import { inside, knock, linkFor, password, signOut } from './account.ts';
import { accessible, enter, expect, test } from './stage.ts';

test.describe.configure({ mode: 'serial' });

// Played on a program with a mail server: there addresses are confirmed, but
// for the first account's.
test('the first account needs no confirming', async ({ page }) => {
  await enter(page);
  await expect(page.getByText('Your address is not confirmed yet.')).toHaveCount(0);
});

// Requirements: AUTH-10
test('an address is confirmed by the link of a mail', async ({ page, context, watch }) => {
  const email = `new.${Date.now()}@example.org`;
  await page.goto('/');
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.locator('button[type=submit]').click();
  await expect(page.getByRole('heading', { name: 'Look into your mail' })).toBeVisible();
  await expect(page.getByText(email)).toBeVisible();
  await accessible(page, 'look into your mail');
  await linkFor(email, 'verify');
  await page.getByRole('button', { name: 'Send it again' }).click();
  await expect(page.getByText('Sent. Look into your mail.')).toBeVisible();
  await linkFor(email, 'verify', 1);

  await page.getByRole('button', { name: 'Back to signing in' }).click();
  await knock(page, email);
  await inside(page);
  const line = page.getByRole('region', { name: 'Confirm your address' });
  await expect(line).toContainText('Your address is not confirmed yet.');
  await accessible(page, 'the quiet line');
  await line.getByRole('button', { name: 'Send it again' }).click();
  await expect(line).toContainText('Sent. Look into your mail.');
  const link = await linkFor(email, 'verify', 2);

  const other = await context.newPage();
  await other.goto(link);
  await expect(other.getByRole('heading', { name: 'Your address is confirmed' })).toBeVisible();
  expect(new URL(other.url()).hash).toBe('');
  await accessible(other, 'confirmed');
  await page.evaluate(() => window.dispatchEvent(new Event('focus'))); // as coming back does
  await expect(line).toHaveCount(0);
  await page.reload();
  await inside(page);
  await expect(line).toHaveCount(0);
  watch.expected.push(/401/); // what was being asked while they sign out
  await signOut(page);
});
