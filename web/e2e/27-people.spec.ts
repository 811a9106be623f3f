import type { Page } from '@playwright/test';
import { alsoAs, ask, asAdministrator } from './change.ts';
import { accessible, box, expect, test } from './stage.ts';

const dialog = (page: Page) => page.getByRole('dialog');
const fact = (page: Page, name: string) => page.locator('.facts dt', { hasText: name }).locator('xpath=following-sibling::dd[1]');
const emailOf = async (page: Page) => (await ask<{ user: { email: string } }>(page, 'GET', '/v1/auth/me')).user.email;

// Requirements: AUTH-05, AUTH-21
test('an administrator finds a person, changes what they may, and signs them out', async ({ page, browser }) => {
  await asAdministrator(page);
  const ada = await alsoAs(browser, page, 'user', 'ada');
  const email = await emailOf(ada);

  await page.goto('/operate');
  await page.getByRole('link', { name: 'People' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('People');
  await page.getByLabel('Find by e-mail or name').fill(email.slice(0, 12).toUpperCase());
  const row = page.getByRole('row').filter({ hasText: email });
  await expect(page).toHaveURL(/q=ADA/);
  await expect(row).toContainText('User');
  await expect(row).toContainText('tokens today');
  await accessible(page, 'people');
  await row.getByRole('link').click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(email);
  await accessible(page, 'one person');

  // The role and the plan, by the keyboard; both hold at once.
  await page.getByRole('button', { name: 'Role and plan' }).focus();
  await page.keyboard.press('Enter');
  await expect(dialog(page)).toContainText('Nobody has to sign in again');
  await accessible(page, 'what a role needs');
  await dialog(page).getByRole('radio', { name: /Power user/ }).check();
  await dialog(page).getByRole('combobox', { name: 'Plan' }).selectOption('paid');
  await dialog(page).getByRole('button', { name: 'Save' }).press('Enter');
  await expect(page.getByRole('status').filter({ hasText: 'are changed' })).toBeVisible();
  await expect(fact(page, 'Role')).toHaveText('Power user');
  await expect(fact(page, 'Plan')).toHaveText('Paid');
  expect((await ask<{ user: { role: string } }>(ada, 'GET', '/v1/auth/me')).user.role).toBe('power');

  // A limit of their own; a number outside its bounds goes nowhere.
  await page.getByRole('button', { name: 'Limits' }).click();
  const size = dialog(page).getByLabel(/^One file/);
  await size.fill('0');
  await dialog(page).getByRole('button', { name: 'Save' }).click();
  expect(await size.evaluate((it: HTMLInputElement) => it.validity.rangeUnderflow)).toBe(true);
  await accessible(page, 'limits of their own');
  await size.fill('3');
  await dialog(page).getByRole('button', { name: 'Save' }).click();
  await expect(page.locator('.own-numbers')).toContainText('One file: 3');
  expect((await ask<{ max_bytes: number }>(ada, 'GET', '/v1/files/limits')).max_bytes).toBe(3 << 20);

  // A budget of their own, and who did what.
  await page.getByRole('button', { name: 'Budget' }).click();
  await dialog(page).getByRole('radio', { name: 'Of their own' }).check();
  await dialog(page).getByLabel('Tokens a day').fill('500');
  await dialog(page).getByRole('button', { name: 'Save' }).click();
  const log = page.getByRole('region', { name: 'What administrators did' });
  await expect(log.getByRole('listitem').first()).toContainText('budget: the plan’s → 500 tokens a day');
  await expect(log.getByRole('listitem').last()).toContainText('role: User → Power user');
  await expect(log.getByRole('listitem').last()).toContainText('admin@example.org');

  // Signing out is asked for first, says what it leads to, and counts at once.
  await page.getByRole('button', { name: 'Sign out everywhere' }).click();
  await expect(dialog(page)).toContainText('2 open sign-ins end at once');
  await page.keyboard.press('Escape');
  await expect(page.getByRole('button', { name: 'Sign out everywhere' })).toBeFocused();
  await page.getByRole('button', { name: 'Sign out everywhere' }).click();
  await dialog(page).getByRole('button', { name: 'Sign out everywhere' }).click();
  await expect(fact(page, 'Open sign-ins')).toHaveText('0');
  await ada.goto('/contexts');
  await expect(ada.getByLabel('Password')).toBeVisible();
  await ada.context().close();

  await page.getByRole('button', { name: 'Suspend' }).click();
  await dialog(page).getByRole('button', { name: 'Suspend' }).click();
  await expect(fact(page, 'State')).toHaveText('Suspended');
  await page.getByRole('button', { name: 'Reactivate' }).click();
  await dialog(page).getByRole('button', { name: 'Reactivate' }).click();
  await expect(fact(page, 'State')).toHaveText('Active');
});

test('the last administrator is told why they stay one', async ({ page, watch }) => {
  watch.expected.push(/409/);
  await asAdministrator(page);
  const others = (await ask<{ id: string; email: string }[]>(page, 'GET', '/v1/users?role=admin&limit=100')).filter((one) => one.email !== 'admin@example.org');
  for (const one of others) await ask(page, 'PATCH', `/v1/users/${one.id}`, { role: 'user' }); // of other specs
  await page.goto('/operate/people?role=admin');
  await page.getByRole('link', { name: 'admin@example.org' }).click();
  await expect(page.getByRole('button', { name: 'Suspend' })).toHaveCount(0);
  await page.getByRole('button', { name: 'Role and plan' }).click();
  await dialog(page).getByRole('radio', { name: /^User/ }).check();
  await expect(dialog(page)).toContainText('You give up your own role');
  await dialog(page).getByRole('button', { name: 'Save' }).click();
  await expect(dialog(page).getByRole('alert')).toHaveText('This is the last administrator. Make somebody else one first.');
});

test('an administrator changes the numbers of a plan', async ({ page, watch }) => {
  watch.expected.push(/409/);
  await asAdministrator(page);
  await page.goto('/operate');
  await page.getByRole('link', { name: 'Plans' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Plans');
  await accessible(page, 'plans');
  await page.getByRole('button', { name: 'Change the plan Paid' }).click();
  await accessible(page, 'a plan to change');
  await dialog(page).getByLabel(/^Streams/).fill('48');
  await dialog(page).getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('status').filter({ hasText: 'The plan Paid is changed.' })).toBeVisible();
  const cell = page.getByRole('row', { name: /^Streams/ }).getByRole('cell').last();
  await expect(cell).toContainText('48');
  await expect(cell).toContainText('ships as 64');

  // Somebody else is faster: nothing is overwritten.
  await page.getByRole('button', { name: 'Change the plan Paid' }).click();
  await expect(dialog(page).getByLabel(/^Streams/)).toHaveValue('48');
  const { plans } = await ask<{ plans: { name: string; version: number }[] }>(page, 'GET', '/v1/plans');
  const version = plans.find((one) => one.name === 'paid')!.version;
  await ask(page, 'PATCH', '/v1/plans/paid', { version, numbers: { sockets: 12 } });
  await dialog(page).getByLabel(/^Streams/).fill('');
  await dialog(page).getByRole('button', { name: 'Save' }).click();
  await expect(dialog(page).getByRole('alert')).toContainText('Somebody else has changed this plan');
  await page.keyboard.press('Escape');
  await ask(page, 'PATCH', '/v1/plans/paid', { version: version + 1, numbers: { sockets: null, streams: null } });
  await page.reload();
  await expect(cell).toHaveText('64');
});

test('the filters of people stand under the heading, on one line of a desk', async ({ page }) => {
  await asAdministrator(page);
  for (const width of [1280, 900]) {
    await page.setViewportSize({ width, height: 800 });
    await page.goto('/operate/people');
    await expect(page.locator('.find-people .filter')).toHaveCount(4);
    const heading = (await page.getByRole('heading', { level: 1 }).boundingBox())!;
    const filters = await page.locator('.find-people .filter').all();
    const tops = await Promise.all(filters.map(async (one) => (await one.boundingBox())!.y));
    expect(new Set(tops.map(Math.round)).size, `${tops.join(', ')} at ${width}`).toBe(1);
    expect(tops[0]).toBeGreaterThanOrEqual(heading.y + heading.height);
  }
});

for (const shape of [
  { name: 'dark', scheme: 'dark' as const, width: 1360 },
  { name: 'on a phone', scheme: 'light' as const, width: 390 },
]) {
  test(`people and plans are for everybody: ${shape.name}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme: shape.scheme, reducedMotion: 'reduce' });
    await page.setViewportSize({ width: shape.width, height: 860 });
    await asAdministrator(page);
    const [own] = await ask<{ id: string }[]>(page, 'GET', '/v1/users?email=admin@example.org');
    await page.evaluate(() => localStorage.setItem('liminal.language', 'de'));
    for (const [address, heading] of [['/operate/people', 'Personen'], [`/operate/people/${own!.id}`, 'admin@example.org'], ['/operate/plans', 'Tarife']] as const) {
      await page.goto(address);
      await expect(page.getByRole('heading', { level: 1 })).toHaveText(heading);
      await expect(page.locator('.skeleton')).toHaveCount(0);
      await accessible(page, `${heading}, ${shape.name}`);
      expect(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)).toBeLessThanOrEqual(0);
      if (process.env['SHOTS']) await page.screenshot({ path: `${process.env['SHOTS']}/${heading}-${shape.name}.png`, fullPage: true });
    }
    await page.getByRole('button', { name: 'Den Tarif Frei ändern' }).click();
    await accessible(page, `a plan to change, ${shape.name}`);
    if (process.env['SHOTS']) await page.screenshot({ path: `${process.env['SHOTS']}/Tarif-${shape.name}.png` });
    await page.keyboard.press('Escape');
    await page.goto('/');
    await expect(box(page)).toBeVisible();
  });
}
