import type { Page } from '@playwright/test';
import { accessible, answered, box, enter, expect, noSockets, test, upload } from './stage.ts';

// The words the requirements give the grounded view; a pack of its own is to
// ship them, and here they are any workflow's.
const paliadin = {
  title: { en: '✨ Paliadin', de: '✨ Paliadin' },
  tagline: { en: "I know your matters and Paliad's knowledge base.", de: 'Ich kenne deine Akten und Paliads Wissensbasis.' },
  empty: { en: 'How can I help?', de: 'Was kann ich für dich tun?' },
  placeholder: { en: 'Ask Paliadin', de: 'Frag Paliadin' },
  thinking: { en: 'Paliadin is thinking …', de: 'Paliadin denkt nach …' },
  starters: [
    { en: "What's on my plate?", de: 'Was steht heute an?' },
    { en: 'Which deadlines are due this week?', de: 'Welche Fristen sind diese Woche fällig?' },
    { en: 'Explain Klageerwiderung.', de: 'Erkläre mir Klageerwiderung.' },
  ],
};
type Language = 'en' | 'de';

const words = {
  en: { workflow: 'Workflow', send: 'Send', stop: 'Stop', anew: 'New conversation', kept: 'This conversation is kept on the server, in your account, and stays there until you delete it.' },
  de: { workflow: 'Ablauf', send: 'Senden', stop: 'Anhalten', anew: 'Neue Unterhaltung', kept: 'Diese Unterhaltung liegt auf dem Server, in deinem Konto, und bleibt dort, bis du sie löschst.' },
};

const glossary = `# Klageerwiderung

The Klageerwiderung is the statement of defence: it explains why the claim is to be dismissed. It is due within two months of service.
`;

/** The workflow that answers from documents, with Paliadin's words and no others of its own; chosen for the turns to come. */
async function withPaliadin(page: Page): Promise<void> {
  const headers = { Authorization: `Bearer ${await page.evaluate(() => sessionStorage.getItem('liminal.token'))}` };
  const at = (path: string) => new URL(path, page.url()).href;
  const all = (await (await page.request.get(at('/v1/artifacts?type=workflow&limit=100'), { headers })).json()) as { data: { data: { name: string; schema: Record<string, unknown> }[] } };
  const { schema } = all.data.data.find((one) => one.name === 'documents')!;
  const nodes = (schema['nodes'] as Record<string, unknown>[]).map(({ description: _, ...node }) => node);
  const made = await page.request.post(at('/v1/artifacts'), { headers, data: { type: 'workflow.chat', name: 'paliadin', schema: { ...schema, nodes, title: 'Paliadin', surface: paliadin } } });
  expect(made.ok(), await made.text()).toBe(true);
  await page.reload();
}

async function speak(page: Page, language: Language): Promise<void> {
  await page.evaluate((one) => localStorage.setItem('liminal.language', one), language);
  await page.reload();
}

function headOf(page: Page) {
  return page.locator('.surface-head');
}

const fits = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth);

// Requirements: UI-31 (title, tagline, empty state and starters of a workflow)
test('a conversation shows the words of the workflow it is with, in both languages', async ({ page }) => {
  await enter(page);
  await upload(page, 'glossary.md', glossary);
  await expect(page.getByText(/^Ready/)).toBeVisible();
  await withPaliadin(page);
  await noSockets(page);
  // A gate that was opened stays so: the page may ask for the events later than one looks.
  let release = () => {};
  let gate = Promise.resolve();
  await page.route('**/v1/runs/*/events', async (route) => {
    await gate;
    await route.fallback();
  });

  for (const language of ['en', 'de'] as const) {
    const own = words[language];
    await page.goto('/');
    await speak(page, language);
    await expect(headOf(page), 'the server’s choice shows nothing of its own').toHaveCount(0);
    await page.getByLabel(own.workflow, { exact: true }).selectOption({ label: paliadin.title[language] });
    await expect(headOf(page).getByRole('heading', { name: '✨ Paliadin', exact: true })).toBeVisible();
    await expect(headOf(page).getByText(paliadin.tagline[language], { exact: true })).toBeVisible();
    await expect(headOf(page).getByTitle(own.kept)).toBeVisible();
    await expect(headOf(page).getByTitle(own.kept)).toContainText(own.kept);
    await expect(page.getByRole('heading', { name: paliadin.empty[language] })).toBeVisible();
    await expect(page.locator('.empty button')).toHaveText(paliadin.starters.map((one) => one[language]));
    await expect(box(page)).toHaveAttribute('aria-placeholder', paliadin.placeholder[language]);

    gate = new Promise<void>((go) => (release = go));
    const starter = paliadin.starters[2]![language];
    await page.locator('.empty').getByRole('button', { name: starter }).click();
    await expect(page.locator('.said')).toHaveText(starter);
    const thinking = page.locator('.turn .steps').getByText(paliadin.thinking[language]);
    await expect(thinking).toBeVisible();
    await expect(page.getByRole('button', { name: own.stop, exact: true })).toBeVisible();
    await expect(headOf(page).getByRole('link', { name: own.anew })).toBeVisible();
    release();
    const turn = await answered(page);
    await expect(thinking).toHaveCount(0);
    await expect(turn.locator('.evidence code').filter({ hasText: 'rag.search_v1' })).toBeVisible();
    await expect(turn.locator('button.cite').first()).toBeVisible();

    await page.reload(); // what was chosen for a conversation holds
    await expect(headOf(page).getByRole('heading', { name: '✨ Paliadin' })).toBeVisible();
    await headOf(page).getByRole('link', { name: own.anew }).click(); // and for the one begun from it
    await expect(page.locator('.empty button').first()).toHaveText(paliadin.starters[0]![language]);
    await expect(headOf(page).getByRole('link', { name: own.anew })).toHaveCount(0);
    await page.getByLabel(own.workflow, { exact: true }).selectOption('');
    await expect(headOf(page)).toHaveCount(0);
    await expect(page.locator('.empty').getByRole('button', { name: paliadin.starters[0]![language] })).toHaveCount(0);
  }
});

// Requirements: UI-02 (single column below 640 px)
test('a workflow’s words are in nobody’s way, in both themes and on a phone', async ({ page }) => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await enter(page);
  await withPaliadin(page);
  for (const scheme of ['light', 'dark'] as const) {
    for (const size of [{ width: 1360, height: 860 }, { width: 390, height: 800 }]) {
      await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
      await page.setViewportSize(size);
      await page.goto('/');
      await page.getByLabel('Workflow', { exact: true }).selectOption({ label: paliadin.title.en });
      await expect(headOf(page)).toBeVisible();
      await accessible(page, `nothing said yet: ${scheme}, ${size.width}`);
      expect(await fits(page)).toBe(true);
      await page.locator('.empty').getByRole('button', { name: "What's on my plate?" }).click();
      await answered(page);
      await accessible(page, `an answer: ${scheme}, ${size.width}`);
      expect(await fits(page)).toBe(true);
    }
  }
});

test('the document assistant says what it does, and a starter of its own begins it', async ({ page }) => {
  await enter(page);
  await upload(page, 'glossary.md', glossary);
  await expect(page.getByText(/^Ready/)).toBeVisible();
  await page.getByLabel('Workflow', { exact: true }).selectOption({ label: 'Document assistant' });
  await expect(headOf(page).getByRole('heading', { name: 'Document assistant' })).toBeVisible();
  await expect(page.locator('.empty button')).toHaveText(['Summarize a document', 'Compare two documents', 'Audit a text against a document']);
  await page.getByRole('button', { name: 'Compare two documents' }).click();
  await expect(page.getByRole('region', { name: 'Needs your answer' })).toBeVisible();
  await speak(page, 'de');
  await expect(headOf(page).getByRole('heading', { name: 'Dokumentenassistent' })).toBeVisible();
  await expect(headOf(page).getByText('Fasst deine Dokumente zusammen')).toBeVisible();
});
