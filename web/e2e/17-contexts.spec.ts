import { readFileSync } from 'node:fs';
import { accessible, answered, enter, expect, retention, say, test } from './stage.ts';
import type { Page } from '@playwright/test';

async function contexts(page: Page) {
  await page.getByRole('navigation', { name: 'Parts of Liminal' }).getByRole('link', { name: 'Contexts' }).click();
  await expect(page.getByRole('heading', { name: 'Contexts', level: 1 })).toBeVisible();
}

async function make(page: Page, name: string, description = '') {
  const form = page.locator('details.make');
  await expect(page.locator('.left .skeleton')).toHaveCount(0); // where there are none it opens by itself
  if ((await form.getAttribute('open')) === null) await form.locator('summary').click();
  await form.getByLabel('Name').fill(name);
  await form.getByLabel('Description').fill(description);
  await form.getByRole('button', { name: 'Create context' }).click();
  await expect(page.getByRole('heading', { name, level: 2, exact: true })).toBeVisible();
}

async function add(page: Page, name: string, text: string) {
  await page.locator('.upload-form input[type=file]:not([webkitdirectory])').setInputFiles({ name, mimeType: 'text/markdown', buffer: Buffer.from(text) });
  await expect(page.locator('.tray li', { hasText: name })).toContainText('Ready');
}

/** The passage size the newest document of a context was cut by. */
async function sizeOf(page: Page, context: string): Promise<number> {
  const token = await page.evaluate(() => sessionStorage.getItem('liminal.token'));
  const answer = await page.request.get(`/v1/contexts/${context}/documents`, { headers: { Authorization: `Bearer ${token}` } });
  const { data } = (await answer.json()) as { data: { data: { chunk_size: number }[] } };
  return data.data[0]!.chunk_size;
}

// Requirements: UI-01 (sidebar and main), UI-10
test('a context is made, filled, described, and deleted', async ({ page }) => {
  await enter(page);
  await contexts(page);
  await make(page, 'Law', 'What has to be kept');
  await expect(page).toHaveURL(/\/contexts\/[0-9a-f-]{36}$/);
  const id = new URL(page.url()).pathname.split('/').at(-1)!;
  const card = page.locator('.context-card').filter({ hasText: 'Law' });
  await expect(card).toContainText('What has to be kept');
  await expect(card).toContainText(id.slice(0, 8));

  await page.getByLabel('Passage size').fill('63');
  await expect(page.getByText('A whole number from 64 to 4000.')).toBeVisible();
  await expect(page.locator('.upload-form').getByRole('button', { name: 'Add files' })).toBeDisabled();
  await page.getByLabel('Passage size').fill('64');
  await add(page, 'retention.md', retention);
  expect(await sizeOf(page, id)).toBe(64);

  const facts = page.getByRole('region', { name: 'Facts' });
  await expect(facts).toContainText(id);
  await expect(page.getByRole('region', { name: 'Passages indexed last' })).toContainText('retained for seven years');
  await expect(card).toContainText('1 document');
  await expect(page.locator('.detail-head .badge')).toHaveText('private');

  const row = page.locator('.document-list li');
  await row.getByRole('button', { name: /^Rename “/ }).click();
  await row.getByLabel('Title of the document').fill('How long to keep');
  await page.keyboard.press('Enter');
  await expect(row.locator('.name')).toHaveText('How long to keep');
  await expect(row.getByRole('button', { name: /^Rename “/ })).toBeFocused();

  await page.getByRole('button', { name: 'Rename or describe' }).click();
  const dialog = page.getByRole('dialog', { name: 'Rename or describe' });
  await dialog.getByLabel('Name').fill('Duties');
  await dialog.getByLabel('Description').fill('');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('heading', { name: 'Duties', level: 2 })).toBeVisible();
  await expect(page.locator('.context-card').filter({ hasText: 'Duties' })).toBeVisible();

  // Elsewhere, lists know of it too.
  await page.getByRole('navigation', { name: 'Parts of Liminal' }).getByRole('link', { name: 'Chat' }).click();
  await expect(page.getByLabel('Documents to use').getByRole('option', { name: 'Duties' })).toBeAttached();

  // What is removed by key leaves the focus to its neighbour, the last to the place it was in.
  await page.goto(`/contexts/${id}`);
  await add(page, 'second.md', '# Second\n\nAnother document of this context.');
  const documents = page.getByRole('group', { name: 'Documents' });
  const remove = documents.getByRole('button', { name: /^Delete “/ });
  for (const left of [1, 0]) {
    await remove.first().press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).press('Enter');
    await expect(remove).toHaveCount(left);
    await expect(left > 0 ? remove : documents).toBeFocused();
  }

  await page.getByRole('button', { name: 'Delete context' }).click();
  await page.getByRole('dialog', { name: 'Delete context' }).getByRole('button', { name: 'Delete context' }).click();
  await expect(page).toHaveURL(/\/contexts$/);
  await expect(page.locator('.context-card')).toHaveCount(0);
});

// Requirements: UI-10, FILE-01, FILE-05
test('a changed file replaces the version before, which can be opened, saved and used again', async ({ page }) => {
  await enter(page);
  await contexts(page);
  await make(page, 'Law');
  await add(page, 'fares.md', 'The ferry costs four euros.\n');
  await page.locator('.tray').getByRole('button', { name: /^Dismiss/ }).click();
  await add(page, 'fares.md', 'The ferry costs five euros.\n');
  await expect(page.locator('.tray li')).toContainText(/replaced the version of \d+:\d\d/);
  const rows = page.getByRole('group', { name: 'Documents' }).locator('.document-list > li');
  await expect(rows.getByRole('button', { name: '1 older version: fares.md' })).toBeVisible();
  await expect(rows).toHaveCount(1);
  await expect(rows.locator('.name')).toHaveText('fares.md');

  const sheet = page.getByRole('dialog');
  await rows.getByRole('button', { name: 'Open “fares.md”' }).click();
  await expect(sheet.locator('.document-text')).toHaveText('The ferry costs five euros.');
  await accessible(page, 'a document');
  await page.keyboard.press('Escape');
  await expect(rows.getByRole('button', { name: 'Open “fares.md”' })).toBeFocused();
  const [file] = await Promise.all([page.waitForEvent('download'), rows.getByRole('button', { name: 'Download “fares.md”' }).click()]);
  expect([file.suggestedFilename(), readFileSync(await file.path(), 'utf8')]).toEqual(['fares.md', 'The ferry costs five euros.\n']);

  await rows.getByRole('button', { name: '1 older version: fares.md' }).click();
  const older = rows.locator('.versions > li');
  await expect(older).toHaveCount(1);
  await older.getByRole('button', { name: /^Open “Version of / }).click();
  await expect(sheet.locator('.document-text')).toHaveText('The ferry costs four euros.');
  await expect(sheet.locator('.where')).toContainText('An older version, replaced');
  const [old] = await Promise.all([page.waitForEvent('download'), sheet.getByRole('button', { name: 'Download' }).click()]);
  expect([old.suggestedFilename(), readFileSync(await old.path(), 'utf8')]).toEqual(['fares.md', 'The ferry costs four euros.\n']);
  await accessible(page, 'an older version');
  await page.keyboard.press('Escape');
  await older.getByRole('button', { name: /^Use again: Version of / }).click();
  await expect(older).toHaveCount(0); // it is another row that is in use
  await expect(rows).toHaveCount(1);
  await rows.getByRole('button', { name: 'Open “fares.md”' }).click();
  await expect(sheet.locator('.document-text')).toHaveText('The ferry costs four euros.');
});

// Requirements: UI-06, UI-10
test('a conversation whose context is deleted goes on with all documents', async ({ page }) => {
  await enter(page);
  await contexts(page);
  await make(page, 'Law');
  const inside = page.url();
  const chat = page.getByRole('navigation', { name: 'Parts of Liminal' }).getByRole('link', { name: 'Chat' });
  await chat.click();
  await page.getByLabel('Documents to use').selectOption({ label: 'Law' });
  await say(page, 'How long are letters archived?');
  await answered(page);
  await expect(page).toHaveURL(/\/c\//);
  const conversation = page.url();
  await expect(page.getByLabel('Documents to use').getByRole('option', { selected: true })).toHaveText('Law');
  await contexts(page);
  await page.locator('.context-card', { hasText: 'Law' }).getByRole('link').click();
  await expect(page).toHaveURL(inside);
  await page.getByRole('button', { name: 'Delete context' }).click();
  await page.getByRole('dialog', { name: 'Delete context' }).getByRole('button', { name: 'Delete context' }).click();
  await expect(page).toHaveURL(/\/contexts$/);
  await chat.click();
  await expect(page).toHaveURL(conversation);
  await say(page, 'And for how long?');
  await expect(page.locator('.turn')).toHaveCount(2);
  await answered(page);
  await expect(page.locator('.failure')).toHaveCount(0);
});

test('an address of no context, or of no set, says so', async ({ page, watch }) => {
  watch.expected.push(/40[04]/);
  await enter(page);
  await page.goto('/contexts/01a20317-0369-7a2b-b00e-9679e6cca4f0');
  await expect(page.getByRole('alert')).toContainText('There is no such context, or it is not yours.');
  await page.goto('/contexts/nonsense');
  await expect(page.getByRole('alert')).toContainText('There is no such context');
  await page.goto('/contexts/sets/01a20317-0369-7a2b-b00e-9679e6cca4f0');
  await expect(page.getByRole('alert')).toContainText('There is no such set');
});

test('a long list of contexts comes in pages', async ({ page }) => {
  await enter(page);
  const token = await page.evaluate(() => sessionStorage.getItem('liminal.token'));
  for (let n = 0; n < 27; n++) {
    const made = await page.request.post('/v1/contexts', { headers: { Authorization: `Bearer ${token}` }, data: { name: `Context ${n}` } });
    expect(made.ok(), await made.text()).toBe(true);
  }
  await contexts(page);
  await expect(page.locator('.context-card')).toHaveCount(25);
  await page.getByRole('button', { name: 'Show more' }).click();
  await expect(page.locator('.context-card')).toHaveCount(27);
  await expect(page.locator('.context-card a').nth(25)).toBeFocused(); // the button is gone
});

// Requirements: UI-08
test('knowledge is uploaded from beneath the box, into a context that was chosen', async ({ page }) => {
  await enter(page);
  await contexts(page);
  await make(page, 'Law');
  await page.getByRole('navigation', { name: 'Parts of Liminal' }).getByRole('link', { name: 'Chat' }).click();
  await page.getByText('Upload knowledge', { exact: true }).click();
  await page.getByLabel('Into').selectOption({ label: 'Law' });
  await page.getByLabel('Passage size').fill('4001');
  await expect(page.getByText('A whole number from 64 to 4000.')).toBeVisible();
  await page.getByLabel('Passage size').fill('200');
  await add(page, 'retention.md', retention);
  await contexts(page);
  const card = page.locator('.context-card').filter({ hasText: 'Law' });
  await expect(card).toContainText('1 document');
  const id = (await card.getByRole('link').getAttribute('href'))!.split('/').at(-1)!;
  expect(await sizeOf(page, id)).toBe(200);
});

// Requirements: UI-06
test('a workflow may be named by its id, beside those of the list', async ({ page }) => {
  await enter(page);
  await page.getByLabel('Workflow', { exact: true }).selectOption({ label: 'Another, by id or name…' });
  const field = page.getByLabel('Id or name of the workflow');
  await expect(field).toBeFocused();
  await field.fill('no.such.workflow');
  await say(page, 'Hello');
  await expect(page.locator('.failure')).toContainText('There is no workflow "no.such.workflow" that you may use.');
  await field.fill('');
  await field.press('Escape');
  await expect(page.getByLabel('Workflow', { exact: true })).toBeFocused();
});

// Requirements: UI-06
test('the workflow of a conversation is kept by the server, not by one browser', async ({ page }) => {
  await enter(page);
  const chooser = page.getByLabel('Workflow', { exact: true });
  await chooser.selectOption({ label: 'Document assistant' });
  const kept = page.waitForResponse((one) => one.request().method() === 'PATCH' && one.ok());
  await say(page, 'Hello');
  await kept;
  const chosen = await chooser.inputValue();
  await page.evaluate(() => localStorage.removeItem('liminal.workflows')); // as in a browser that has never been here
  await page.reload();
  await expect(chooser).toHaveValue(chosen);
  const changed = page.waitForResponse((one) => one.request().method() === 'PATCH' && one.ok());
  await chooser.selectOption({ label: 'Automatic' });
  await changed;
  await page.reload();
  await expect(chooser).toHaveValue('');
});

test('sets are made of documents of all contexts, changed, and deleted', async ({ page }) => {
  await enter(page);
  await contexts(page);
  await make(page, 'Law');
  await add(page, 'retention.md', retention);
  await make(page, 'Travel');
  await add(page, 'trips.md', '# Trips\n\nTrips are booked early.\n');
  await page.getByRole('link', { name: 'Sets' }).click();
  await page.getByLabel('Title of the set').fill('For the audit');
  await page.getByRole('button', { name: 'Create set' }).click();
  await expect(page.getByText('No documents in it yet.')).toBeVisible();
  await page.getByLabel('Find documents to add').fill('nothing of this');
  await expect(page.getByText('No document matches.')).toBeVisible();
  await page.getByLabel('Find documents to add').fill('trip');
  await page.getByRole('button', { name: /^Add “Trips”/ }).click();
  await expect(page.getByLabel('Find documents to add')).toBeFocused(); // what was pressed is gone
  await page.getByLabel('Find documents to add').fill('');
  await page.getByRole('button', { name: /^Add “Retention”/ }).click();
  const inside = page.getByRole('list', { name: 'Documents', exact: true });
  await expect(inside.locator('.name')).toHaveText(['Trips', 'Retention']);
  await inside.getByRole('button', { name: 'Take “Trips” out of the set' }).click();
  await expect(inside.locator('.name')).toHaveText(['Retention']);
  await expect(inside.getByRole('button', { name: 'Take “Retention” out of the set' })).toBeFocused();
  await page.getByRole('button', { name: 'Rename', exact: true }).click();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('button', { name: 'Rename', exact: true })).toBeFocused();
  await page.getByRole('button', { name: 'Rename', exact: true }).click();
  await page.locator('.detail-head').getByLabel('Title of the set').fill('Audit');
  await page.keyboard.press('Enter');
  await expect(page.locator('.context-card')).toContainText('Audit');
  await page.getByRole('button', { name: 'Delete set' }).click();
  await page.getByRole('dialog', { name: 'Delete set' }).getByRole('button', { name: 'Delete set' }).click();
  await expect(page.getByText('No sets yet.')).toBeVisible();
});

const shapes = [
  { name: 'light', scheme: 'light' as const, size: { width: 1360, height: 860 } },
  { name: 'dark', scheme: 'dark' as const, size: { width: 1360, height: 860 } },
  { name: 'phone', scheme: 'dark' as const, size: { width: 390, height: 800 } },
];

for (const shape of shapes) {
  // Requirements: UI-02 (single column below 640 px)
  test(`nothing of the contexts is in the way of anyone: ${shape.name}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme: shape.scheme, reducedMotion: 'reduce' });
    await page.setViewportSize(shape.size);
    await enter(page);
    await contexts(page);
    await accessible(page, 'none yet');
    await make(page, 'Law', 'What has to be kept, for how long, and who has to be told of it.');
    await add(page, 'retention.md', retention);
    await expect(page.locator('.chunks li').first()).toBeVisible();
    await accessible(page, 'a context');
    await page.getByRole('button', { name: 'Rename or describe' }).click();
    await accessible(page, 'renaming it');
    await page.keyboard.press('Escape');
    await page.getByRole('navigation', { name: 'Parts of Liminal' }).getByRole('link', { name: 'Contexts' }).click();
    await page.getByRole('link', { name: 'Sets' }).click();
    await page.getByLabel('Title of the set').fill('For the audit');
    await page.getByRole('button', { name: 'Create set' }).click();
    await page.getByRole('button', { name: /^Add “Retention”/ }).click();
    await expect(page.getByRole('button', { name: /^Take “Retention”/ })).toBeVisible();
    await accessible(page, 'a set');
    await page.getByRole('navigation', { name: 'Parts of Liminal' }).getByRole('link', { name: 'Chat' }).click();
    await page.getByText('Upload knowledge', { exact: true }).click();
    await expect(page.getByLabel('Into')).toBeVisible();
    await accessible(page, 'uploading from the conversation');
  });
}

// Requirements: GRND-37 (errors)
test('in German on a phone the contexts have their words and room', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 800 });
  await enter(page);
  await page.getByRole('button', { name: 'Account' }).click();
  await page.getByRole('button', { name: 'DE, Deutsch' }).click();
  await page.keyboard.press('Escape');
  await page.getByRole('navigation', { name: 'Teile von Liminal' }).getByRole('link', { name: 'Kontexte' }).click();
  await page.getByLabel('Name').fill('Aufbewahrungspflichten nach Handels- und Steuerrecht');
  await page.getByRole('button', { name: 'Kontext anlegen' }).click();
  await expect(page.getByRole('button', { name: 'Umbenennen oder beschreiben' })).toBeVisible();
  const broken = { name: 'Bericht.docx', mimeType: 'application/octet-stream', buffer: Buffer.from('Kein Word.') };
  await page.locator('.upload-form input[type=file]:not([webkitdirectory])').setInputFiles(broken);
  const why = '„Bericht.docx“ heißt wie eine Datei von Word, ist aber keine: Vielleicht ist sie beschädigt oder wurde umbenannt. Öffne sie, speichere sie neu und lade das hoch.';
  await expect(page.locator('.document-list .problem')).toHaveText(why);
  await expect(page.locator('.tray li', { hasText: broken.name })).toContainText(why);
  const tooWide = () => page.evaluate(() => [...document.querySelectorAll('html, #page')].some((one) => one.scrollWidth > one.clientWidth));
  expect(await tooWide()).toBe(false);
  await expect(page.getByRole('link', { name: 'Alle Kontexte' })).toBeVisible();
  await page.getByRole('link', { name: 'Alle Kontexte' }).click();
  await expect(page.locator('.context-card')).toHaveCount(1);
  expect(await tooWide()).toBe(false);
});

