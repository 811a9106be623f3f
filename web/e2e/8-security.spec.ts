// Also on the lane: sessions, walls and limits are PostgreSQL's and Redis's.
import { readFileSync } from 'node:fs';
import { code, inside, knock, linkFor, password, secure, security, signOut } from './account.ts';
import { accessible, box, enter, expect, test } from './stage.ts';

const refused = /40[0139]|429/; // refusals are what these tests are about
test.beforeEach(({ watch }) => {
  watch.expected.push(refused);
});

// Requirements: AUTH-12, AUTH-13, AUTH-15, UI-16 (mfa_required prompts for the code)
test('a second factor is put to use, asked for at the door, and given up', async ({ page }) => {
  const email = await enter(page);
  const part = await security(page);
  await part.getByRole('button', { name: 'Turn on' }).click();
  const picture = part.getByRole('img', { name: /QR code/ });
  await expect(picture).toBeVisible();
  const [width, across] = await picture.evaluate((one) => [one.getBoundingClientRect().width, (one as SVGSVGElement).viewBox.baseVal.width]);
  expect(width! / across!, 'points a module').toBeGreaterThan(3);
  const secret = (await part.locator('.secret code').innerText()).replaceAll(/\s/g, '');

  await part.getByLabel('Six-digit code').fill('000 000');
  await part.getByRole('button', { name: 'Turn on' }).click();
  await expect(part.getByRole('alert')).toContainText('This code is wrong.');
  await part.getByLabel('Six-digit code').fill(code(secret));
  await page.keyboard.press('Enter');
  const codes = part.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem');
  await expect(codes).toHaveCount(10);
  const recovery = await codes.allInnerTexts();
  const saving = page.waitForEvent('download');
  await part.getByRole('button', { name: 'Download' }).click();
  const saved = readFileSync(await (await saving).path(), 'utf8');
  for (const one of [email, ...recovery]) expect(saved).toContain(one);

  await page.reload();
  await inside(page);
  await expect((await security(page)).getByText('On. 10 recovery codes are left.')).toBeVisible();
  await signOut(page);

  await knock(page, email);
  const field = page.getByLabel('Six-digit code');
  await expect(field).toBeFocused();
  await expect(field).toHaveAttribute('autocomplete', 'one-time-code');
  expect(await page.evaluate(() => sessionStorage.getItem('liminal.token'))).toBe(null);
  await field.fill(code(secret, 1));
  await page.keyboard.press('Enter');
  await inside(page);

  await security(page);
  await part.getByRole('button', { name: 'Turn off' }).click();
  await part.getByRole('button', { name: 'Use a recovery code instead' }).click();
  await part.getByLabel('Recovery code').fill(recovery[0]!);
  await part.locator('[name=password]').fill('not the password');
  await part.getByRole('button', { name: 'Turn off' }).click();
  await expect(part.getByRole('alert')).toContainText('The password is wrong.');
  await part.locator('[name=password]').fill(password);
  await part.getByRole('button', { name: 'Turn off' }).click();
  await expect(part.getByText('Off. With it')).toBeVisible();
  await signOut(page);
  await knock(page, email);
  await inside(page);
});

// Requirements: AUTH-13, AUTH-14
test('five wrong codes lock the authenticator, say for how long, and leave the recovery codes open', async ({ page }) => {
  const email = await enter(page);
  const { recovery } = await secure(page);
  await signOut(page);
  await knock(page, email);
  const problem = page.getByRole('alert');
  for (let n = 1; n <= 5; n++) {
    await page.getByLabel('Six-digit code').fill(`00000${n}`);
    await page.keyboard.press('Enter');
    await expect(problem).toContainText(n < 5 ? 'This code is wrong.' : 'Too many wrong codes. Codes count again in 5 minutes');
    await expect(page.getByRole('button', { name: n < 5 ? 'Continue' : /Again in [45]:\d\d/ })).toBeVisible();
  }
  await expect(page.getByRole('button', { name: /Again in/ })).toBeDisabled();
  await page.getByRole('button', { name: 'Use a recovery code instead' }).click();
  await page.getByLabel('Recovery code').fill(recovery[3]!);
  await page.keyboard.press('Enter');
  await inside(page);
  await expect((await security(page)).getByText('9 recovery codes are left')).toBeVisible();

  await signOut(page);
  await knock(page, email);
  await page.getByRole('button', { name: 'Use a recovery code instead' }).click();
  await page.getByLabel('Recovery code').fill(recovery[3]!);
  await page.keyboard.press('Enter');
  await expect(problem).toContainText('was used already');
});

// Requirements: AUTH-08, AUTH-09
test('a forgotten password is set anew by the link of a mail, and everybody is signed out', async ({ page, browser }) => {
  const email = await enter(page);
  const elsewhere = await (await browser.newContext()).newPage();
  await elsewhere.goto('/');
  await elsewhere.getByRole('button', { name: 'Forgot your password?' }).click();
  const ask = async (address: string) => {
    await elsewhere.getByLabel('E-mail').fill(address);
    await elsewhere.getByRole('button', { name: 'Send the link' }).click();
    return (await elsewhere.getByRole('status').innerText()).replace(address, '');
  };
  const stranger = await ask('nobody@example.org');
  await elsewhere.getByRole('button', { name: 'Back to signing in' }).click();
  await elsewhere.getByRole('button', { name: 'Forgot your password?' }).click();
  expect(await ask(email)).toBe(stranger);

  const link = await linkFor(email, 'reset');
  await elsewhere.goto(link);
  const field = elsewhere.locator('[name=password]');
  await expect(field).toBeFocused();
  expect(new URL(elsewhere.url()).hash).toBe('');
  await field.fill(email);
  await elsewhere.getByRole('button', { name: 'Set the password' }).click();
  await expect(elsewhere.getByRole('alert')).toContainText('must not be the email address');
  await field.fill('another staple entirely');
  await elsewhere.getByRole('button', { name: 'Set the password' }).click();
  await expect(elsewhere.getByText('every session has ended')).toBeVisible();
  await elsewhere.getByRole('button', { name: 'Sign in' }).click();
  await expect(elsewhere).toHaveURL(/:\d+\/$/);
  await knock(elsewhere, email);
  await expect(elsewhere.getByRole('alert')).toContainText('The e-mail or the password is wrong.');
  await knock(elsewhere, email, 'another staple entirely');
  await inside(elsewhere);

  await page.reload();
  await expect(page.getByRole('heading', { name: 'Sign in' })).toBeVisible();
  await page.goto(link);
  await page.locator('[name=password]').fill('a third one altogether');
  await page.getByRole('button', { name: 'Set the password' }).click();
  await expect(page.getByRole('alert')).toContainText('This link has been used or has run out.');
  await expect(page.getByRole('button', { name: 'Send the link' })).toBeVisible();
});

test('a link without its token says so, and offers another', async ({ page }) => {
  await page.goto('/reset');
  await expect(page.getByRole('alert')).toContainText('This link is not complete.');
  await page.goto('/verify');
  await expect(page.getByRole('alert')).toContainText('This link is not complete.');
  await page.goto('/verify#NOBODYSTOKEN');
  await expect(page.getByRole('alert')).toContainText('This link has been used or has run out.');
});

test('sign-ins are listed, and ended one by one or all but this', async ({ page, browser }) => {
  const email = await enter(page);
  const others = await Promise.all([1, 2, 3].map(async () => (await browser.newContext()).newPage()));
  for (const other of others) {
    await other.goto('/');
    await knock(other, email);
    await inside(other);
  }
  const part = await security(page);
  const list = part.getByRole('region', { name: 'Where you are signed in' });
  await expect(list.getByRole('listitem')).toHaveCount(4);
  await list.getByRole('button', { name: /^Sign out Chrome/ }).first().click();
  await expect(list.getByRole('listitem')).toHaveCount(3);
  await list.getByRole('button', { name: 'Sign out everywhere else' }).click();
  await page.getByRole('dialog', { name: 'Sign out everywhere else' }).getByRole('button', { name: 'Sign out everywhere else' }).click();
  await expect(list.getByRole('listitem')).toHaveCount(1);
  for (const other of others) {
    await other.reload();
    await expect(other.getByRole('heading', { name: 'Sign in' })).toBeVisible();
  }
  await page.reload();
  await inside(page);
});

test('a password is changed with the old one, and ends the other sign-ins', async ({ page, browser }) => {
  const email = await enter(page);
  const other = await (await browser.newContext()).newPage();
  await other.goto('/');
  await knock(other, email);
  await inside(other);
  const part = await security(page);
  await part.getByRole('button', { name: 'Change the password' }).click();
  await part.getByLabel('Current password').fill('not the password');
  await part.getByLabel('New password').fill('another staple entirely');
  await page.keyboard.press('Enter');
  await expect(part.getByRole('alert')).toContainText('The password is wrong.');
  await expect(part.getByLabel('Current password')).toBeFocused();
  await part.getByLabel('Current password').fill(password);
  await page.keyboard.press('Enter');
  await expect(part.getByText('Every other session has ended.')).toBeVisible();
  await other.reload();
  await expect(other.getByRole('heading', { name: 'Sign in' })).toBeVisible();
  await knock(other, email, 'another staple entirely');
  await inside(other);
});

// Requirements: AUTH-13, AUTH-16
test('an account at GitHub signs in, is linked and unlinked, and asks for the second factor too', async ({ page }) => {
  await page.goto('/');
  await page.getByRole('button', { name: 'Continue with GitHub' }).click();
  await page.getByRole('link', { name: 'ada' }).click();
  await inside(page);
  expect(new URL(page.url()).hash).toBe('');
  await page.getByRole('button', { name: 'Account' }).click();
  await expect(page.getByText('ada@github.example')).toBeVisible();
  await page.keyboard.press('Escape');
  await signOut(page);

  const email = await enter(page);
  const { secret } = await secure(page);
  const part = page.getByRole('region', { name: 'Security' });
  await part.getByRole('button', { name: 'Link GitHub' }).click();
  await page.getByRole('link', { name: 'bob' }).click();
  await expect(part.getByText('bob@github.example')).toBeVisible();
  expect(new URL(page.url()).hash).toBe('');
  await signOut(page);

  await page.getByRole('button', { name: 'Continue with GitHub' }).click();
  await page.getByRole('link', { name: 'bob' }).click();
  await page.getByLabel('Six-digit code').fill(code(secret, 1));
  expect(new URL(page.url()).hash).toBe('');
  await page.keyboard.press('Enter');
  await inside(page);
  await security(page);
  await part.getByRole('button', { name: 'Unlink GitHub' }).click();
  await expect(part.getByRole('button', { name: 'Link GitHub' })).toBeVisible();
  await page.getByRole('button', { name: 'Account' }).click();
  await expect(page.getByRole('dialog', { name: 'Account' }).getByText(email)).toBeVisible();
});

test('a fragment that promises a session without one leads to the door, with a sentence', async ({ page }) => {
  await page.goto('/#signed_in=github');
  await expect(page.getByRole('alert')).toContainText('That sign-in did not work out.');
  expect(new URL(page.url()).hash).toBe('');
  await page.goto('/?again#mfa_ticket=UNKNOWN');
  await page.getByLabel('Six-digit code').fill('123456');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('alert')).toContainText('has waited too long');
  await expect(page.getByRole('heading', { name: 'Sign in' })).toBeVisible();
});

// Requirements: UI-16 (email, password and tenant; hidden after login)
test('a tenant may be named, in the address or by hand, and a foreign one lets nobody in', async ({ page }) => {
  const email = await enter(page);
  await signOut(page);
  await page.goto('/?tenant=acme');
  await expect(page.getByLabel('Tenant')).toHaveValue('acme');
  await knock(page, email);
  await expect(page.getByRole('alert')).toContainText('The e-mail or the password is wrong.');
  await page.goto('/');
  await expect(page.getByLabel('Tenant')).toBeHidden();
  await page.getByText('Tenant', { exact: true }).click();
  await page.getByLabel('Tenant').fill('default');
  await knock(page, email);
  await inside(page);
  await expect(page.getByLabel('E-mail')).toHaveCount(0);
});

const shapes = [
  { name: 'light', scheme: 'light' as const, size: { width: 1360, height: 860 } },
  { name: 'dark', scheme: 'dark' as const, size: { width: 1360, height: 860 } },
  { name: 'phone', scheme: 'light' as const, size: { width: 390, height: 800 } },
];

for (const shape of shapes) {
  test(`nothing at the door and in the settings is in the way of anyone: ${shape.name}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme: shape.scheme, reducedMotion: 'reduce' });
    await page.setViewportSize(shape.size);
    const email = await enter(page);
    const part = await security(page);
    await accessible(page, 'the settings');
    await part.getByRole('button', { name: 'Change the password' }).click();
    await part.getByRole('button', { name: 'Turn on' }).click();
    await expect(part.getByRole('img')).toBeVisible();
    await accessible(page, 'enrolling');
    const secret = (await part.locator('.secret code').innerText()).replaceAll(/\s/g, '');
    await part.getByLabel('Six-digit code').fill(code(secret));
    await page.keyboard.press('Enter');
    await expect(part.getByRole('button', { name: 'I have kept them' })).toBeVisible();
    await accessible(page, 'recovery codes');
    await part.getByRole('button', { name: 'I have kept them' }).click();
    await part.getByRole('button', { name: 'Turn off' }).click();
    await accessible(page, 'giving it up');
    await page.keyboard.press('Escape'); // the form
    await expect(part.getByRole('button', { name: 'Turn off' })).toBeVisible();
    await signOut(page);
    await accessible(page, 'the door, with a provider');
    await knock(page, email);
    await page.getByLabel('Six-digit code').fill('000000');
    await page.keyboard.press('Enter');
    await expect(page.getByRole('alert')).toBeVisible();
    await accessible(page, 'a wrong code');
    await page.goto('/reset#ABC');
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
    await accessible(page, 'a new password');
    await page.goto('/verify');
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
    await accessible(page, 'a broken link');
  });
}

test('in German the settings and the door have their words, and room on a phone', async ({ page }) => {
  await page.setViewportSize({ width: 360, height: 740 });
  const email = await enter(page);
  await secure(page);
  await page.getByRole('region', { name: 'Language and looks' }).getByRole('button', { name: 'DE, Deutsch' }).click();
  const tooWide = () =>
    page.evaluate(() => [...document.querySelectorAll('html, #page, .security')].some((one) => one.scrollWidth > one.clientWidth));
  const part = page.getByRole('region', { name: 'Sicherheit' });
  await expect(part.getByText('Ein. 10 Wiederherstellungscodes sind übrig.')).toBeVisible();
  await part.getByRole('button', { name: 'Passwort ändern' }).click();
  expect(await tooWide()).toBe(false);
  await page.getByRole('button', { name: 'Konto', exact: true }).click();
  await page.getByRole('button', { name: 'Abmelden' }).click();
  await page.getByLabel('E-Mail').fill(email);
  await page.getByLabel('Passwort').fill(password);
  await page.getByRole('button', { name: 'Anmelden' }).click();
  await page.getByLabel('Sechsstelliger Code').fill('000000');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('alert')).toContainText('Dieser Code ist falsch.');
  expect(await tooWide()).toBe(false);
  await expect(box(page)).toHaveCount(0);
});
