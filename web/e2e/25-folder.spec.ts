import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Page } from '@playwright/test';
import { accessible, box, enter, expect, test } from './stage.ts';

/** A folder on this machine; names may have folders in them. */
function folder(files: Record<string, string>): string {
  const at = join(mkdtempSync(join(tmpdir(), 'dropped-')), 'notes');
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(at, name)), { recursive: true });
    writeFileSync(join(at, name), text);
  }
  return at;
}

/** Drops what lies on this machine, as from a file manager. */
async function drop(page: Page, path: string, x: number, y: number): Promise<void> {
  const browser = await page.context().newCDPSession(page);
  const data = { items: [], files: [path], dragOperationsMask: 1 };
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const) {
    await browser.send('Input.dispatchDragEvent', { type, x, y, data });
    if (type === 'dragOver') await expect(page.locator('.drop-here')).toBeVisible();
  }
  await expect(page.locator('.drop-here')).toHaveCount(0);
}

async function documents(page: Page): Promise<{ path: string; status: string }[]> {
  const token = await page.evaluate(() => sessionStorage.getItem('liminal.token'));
  const headers = { Authorization: `Bearer ${token}` };
  const contexts = await (await page.request.get('/v1/contexts?owner=me', { headers })).json();
  const list = await (await page.request.get(`/v1/contexts/${contexts.data.data[0].id}/documents?limit=100`, { headers })).json();
  return list.data.data;
}

// The program takes twelve documents at once here: the page is told to wait, and does.
//
// Requirements: FILE-08, FILE-09
test('a folder is dropped anywhere, and read to its last file without a word in red', async ({ page, watch }) => {
  watch.expected.push(/429/);
  const waits: number[] = [];
  page.on('response', (response) => {
    if (response.status() === 429) waits.push(Number(response.headers()['retry-after']));
  });
  await enter(page);
  const files: Record<string, string> = { '.git/config': '[core]', 'logo.png': 'PNG', 'changes.gz': 'gz', 'empty.md': '' };
  for (let n = 0; n < 58; n++) files[`part ${n % 5}/chapter ${n}.md`] = `# Chapter ${n}\n\nThe ${n}th harbour has ${n * 3} moorings and a crane for ${n} tonnes.\n`;
  for (const part of ['part 0', 'part 1']) files[`${part}/README.md`] = `# About ${part}\n\nThis is the beginning of ${part}.\n`;

  await drop(page, folder(files), 140, 500); // over the list of conversations
  const tray = page.locator('.tray');
  await expect(tray).toContainText('Left out of the folder: 2 files of kinds that cannot be read, 1 hidden, 1 empty.');
  await expect(tray.locator('li')).toHaveCount(2); // one line for all files, and that one
  await expect(tray).toContainText(/ of 60 files are read · \d+ still to send/);
  await tray.getByRole('button', { name: 'Show files' }).click();
  await expect(tray.locator('li')).toHaveCount(62);
  await accessible(page, 'many files under way');
  await tray.getByRole('button', { name: 'Hide files' }).click();
  await expect(tray).toContainText('60 files are ready.', { timeout: 120_000 });
  await expect(tray.locator('[data-phase=failed]')).toHaveCount(0);

  expect(waits.length).toBeGreaterThan(0);
  expect(Math.min(...waits)).toBeGreaterThan(0);
  const read = await documents(page);
  expect(read.map((one) => one.status)).toEqual(Array(60).fill('ready'));
  expect(read.map((one) => one.path)).toEqual(expect.arrayContaining(['files/part 0 - README.md', 'files/part 1 - README.md', 'files/chapter 57.md']));
  await tray.getByRole('button', { name: 'Dismiss' }).first().click();
  await tray.getByRole('button', { name: 'Dismiss' }).click();
  await expect(tray).toHaveCount(0);
});

// Requirements: FILE-09
test('a file dropped on another page is read, and the page stays', async ({ page }) => {
  await enter(page);
  await page.goto('/settings');
  await expect(page.getByRole('heading', { name: 'Settings', level: 1 })).toBeVisible();
  const address = page.url();
  await drop(page, join(folder({ 'pier.md': '# Pier\n\nThe pier is 300 m long.\n' }), 'pier.md'), 700, 300);
  await expect(page.locator('.tray li', { hasText: 'pier.md' })).toContainText('Ready');
  await accessible(page, 'a tray on a page of its own');
  expect(page.url()).toBe(address);
});

// Requirements: UI-08
test('a folder is picked for a context', async ({ page }) => {
  await enter(page);
  await page.locator('.sections summary', { hasText: 'Upload knowledge' }).click();
  const picking = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Add a folder' }).click();
  await (await picking).setFiles(folder({ 'a/one.md': '# One\n\nOne is the first.\n', 'two.md': '# Two\n\nTwo is the second.\n', '.env': 'secret' }));
  await expect(page.locator('.tray')).toContainText('Left out of the folder: 1 hidden.');
  await expect(page.locator('.tray li[data-phase=ready]')).toHaveCount(2);
  expect((await documents(page)).map((one) => one.path).toSorted()).toEqual(['files/one.md', 'files/two.md']);
  await expect(box(page)).toBeVisible();
});
