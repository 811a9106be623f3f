import { readFileSync } from 'node:fs';
import { accessible, box, enter, expect, test } from './stage.ts';
import type { Page } from '@playwright/test';

async function settings(page: Page) {
  await page.getByRole('navigation', { name: 'Parts of Liminal' }).getByRole('link', { name: 'Settings' }).click();
  await expect(page.getByRole('heading', { name: 'Settings', level: 1 })).toBeVisible();
}

// Requirements: UI-14
test('the settings say who is there, what may be uploaded, and which program answers', async ({ page }) => {
  const email = await enter(page);
  await settings(page);
  const mine = page.getByRole('region', { name: 'Session', exact: true });
  await expect(mine).toContainText(email);
  await expect(mine).toContainText(/[0-9a-f]{8}-[0-9a-f]{4}-/);
  await expect(mine).toContainText(/User|Administrator/);
  await expect(mine).toContainText('default');
  const whole = await page.evaluate(() => sessionStorage.getItem('liminal.session'));
  expect(whole).toBeTruthy();
  await expect(mine).toContainText(`${whole!.slice(0, 8)}…`);
  await expect(mine).not.toContainText(whole!);

  const health = (await (await page.request.get('/healthz')).json()) as { data: { version: string; build: { go: string } } };
  const about = page.getByRole('region', { name: 'About' });
  await expect(about).toContainText(health.data.version);
  await expect(about).toContainText(health.data.build.go);
  await expect(about).toContainText('Everything answers.');
  await expect(about.getByRole('link', { name: 'Documentation of the API' })).toHaveAttribute('href', '/docs');

  const uploads = page.getByRole('region', { name: 'Uploads' });
  await expect(uploads).toContainText(/\d+ MB/);
  await expect(uploads).toContainText('.pdf');
});

// Requirements: UI-14
test('what does not answer is named, beside the program that says so', async ({ page, watch }) => {
  watch.expected.push(/500/);
  const report = { version: '9.9.9', build: { go: 'go9' }, status: 'failing', checks: { database: { status: 'ok' }, blobs: { status: 'failing' } } };
  const error = { code: 'server_error', message: 'Part of the server does not answer.', details: report };
  let asked = 0;
  await page.route('**/healthz', (route) => {
    asked++;
    return route.fulfill({ status: 500, json: { status: 'error', error, request_id: 'r' } });
  });
  await enter(page);
  await settings(page);
  const about = page.getByRole('region', { name: 'About' });
  await expect(about).toContainText('9.9.9');
  await expect(about).toContainText('Does not answer: blobs');
  await expect(about.getByRole('alert')).toHaveCount(0);
  expect(asked).toBe(1);
});

// Requirements: UI-14, UI-15
test('drafts are counted, exported and cleared', async ({ page }) => {
  await enter(page);
  await box(page).fill('Half a thought');
  await expect.poll(() => page.evaluate(() => localStorage.getItem('liminal.drafts'))).toContain('Half a thought');
  await settings(page);
  const drafts = page.getByRole('region', { name: 'Drafts' });
  await expect(drafts).toContainText('1 unsent draft is kept in this browser.');
  const saving = page.waitForEvent('download');
  await drafts.getByRole('button', { name: 'Export as JSON' }).click();
  const saved = JSON.parse(readFileSync(await (await saving).path(), 'utf8')) as Record<string, { text: string; savedAt: string }>;
  expect(saved['_new']?.text).toBe('Half a thought');
  expect(Date.parse(saved['_new']!.savedAt)).toBeGreaterThan(0);
  await drafts.getByRole('button', { name: 'Clear drafts' }).click();
  const dialog = page.getByRole('dialog', { name: 'Clear drafts' });
  await expect(dialog.getByRole('button', { name: 'Keep it' })).toBeFocused();
  await dialog.getByRole('button', { name: 'Clear drafts' }).click();
  await expect(drafts).toContainText('Nothing unsent is kept in this browser.');
  await page.getByRole('navigation', { name: 'Parts of Liminal' }).getByRole('link', { name: 'Chat' }).click();
  await expect(box(page)).toBeVisible();
  await expect(box(page)).not.toContainText('Half a thought');
});

test('language and theme are chosen in the settings, and hold', async ({ page }) => {
  await page.emulateMedia({ colorScheme: 'light' });
  await enter(page);
  await settings(page);
  const looks = page.getByRole('region', { name: 'Language and looks' });
  await looks.getByLabel('Theme').selectOption('dark');
  await looks.getByRole('button', { name: 'DE, Deutsch' }).click();
  await expect(page.getByRole('heading', { name: 'Einstellungen', level: 1 })).toBeVisible();
  await page.reload();
  await expect(page.getByRole('heading', { name: 'Einstellungen', level: 1 })).toBeVisible();
  await expect.poll(() => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor)).toBe('rgb(19, 23, 24)');
});

test('notifications are asked for by a person, and only then', async ({ page }) => {
  await page.addInitScript(() => {
    const notice = Object.assign(() => undefined, {
      permission: 'default',
      async requestPermission() {
        notice.permission = 'granted';
        return 'granted';
      },
    });
    Object.assign(window, { Notification: notice });
  });
  await enter(page);
  await settings(page);
  const wish = page.getByLabel('Tell me when an answer waits for me while I am elsewhere');
  await expect(wish).not.toBeChecked();
  expect(await page.evaluate(() => Notification.permission)).toBe('default');
  await wish.click();
  await expect(wish).toBeChecked();
  expect(await page.evaluate(() => localStorage.getItem('liminal.notify'))).toBe('1');
  await wish.click();
  await expect(wish).not.toBeChecked();
});

// Requirements: UI-12, UI-20
test('the names and colours that style sheets promise are there', async ({ page }) => {
  await enter(page);
  await page.getByRole('navigation', { name: 'Parts of Liminal' }).getByRole('link', { name: 'Contexts' }).click();
  await expect(page.locator('.contexts')).toBeVisible(); // brings the sheet of the pages
  const missing = await page.evaluate(() => {
    const root = getComputedStyle(document.documentElement);
    const variables = ['--accent', '--text', '--panel', '--border'].filter((name) => root.getPropertyValue(name) === '');
    const rules = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]).map((rule) => (rule instanceof CSSStyleRule ? rule.selectorText : ''));
    const classes = ['panel', 'badge', 'table', 'code-block', 'context-card', 'type-badge', 'visibility-badge', 'hidden', 'flex-row', 'pill-row', 'divider', 'mb-14', 'monospace'];
    return [...variables, ...classes.filter((name) => !rules.some((one) => new RegExp(`\\.${name}(?![\\w-])`).test(one)))];
  });
  expect(missing).toEqual([]);
});

const shapes = [
  { name: 'light', scheme: 'light' as const, size: { width: 1360, height: 860 } },
  { name: 'dark', scheme: 'dark' as const, size: { width: 1360, height: 860 } },
  { name: 'phone', scheme: 'light' as const, size: { width: 390, height: 800 } },
];

for (const shape of shapes) {
  // Requirements: UI-02 (single column below 640 px)
  test(`nothing of the settings is in the way of anyone: ${shape.name}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme: shape.scheme, reducedMotion: 'reduce' });
    await page.setViewportSize(shape.size);
    await enter(page);
    await settings(page);
    await expect(page.getByRole('region', { name: 'About' })).toContainText('Everything answers.');
    await expect(page.getByText('This one')).toBeVisible();
    await accessible(page, 'the settings');
    await page.getByRole('button', { name: 'Turn on' }).click();
    await expect(page.getByRole('img', { name: /QR code/ })).toBeVisible();
    await accessible(page, 'enrolling');
  });
}

test('in German on a phone the settings have their words and room', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 800 });
  await enter(page);
  await settings(page);
  await page.getByRole('region', { name: 'Language and looks' }).getByRole('button', { name: 'DE, Deutsch' }).click();
  await expect(page.getByRole('region', { name: 'Über Liminal' })).toContainText('Alles antwortet.');
  await page.getByRole('button', { name: 'Einschalten' }).click();
  await expect(page.getByRole('img')).toBeVisible();
  expect(await page.evaluate(() => [...document.querySelectorAll('html, #page')].some((one) => one.scrollWidth > one.clientWidth))).toBe(false);
  const tabs = page.getByRole('navigation', { name: 'Teile von Liminal' });
  const under = await tabs.evaluate((one) => innerHeight - one.getBoundingClientRect().bottom);
  expect(under).toBe(0);
  for (const link of await tabs.getByRole('link').all()) expect(await link.evaluate((one) => one.scrollWidth <= one.clientWidth)).toBe(true);
});
