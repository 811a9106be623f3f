import type { Page } from '@playwright/test';
import { accessible, answered, box, enter, expect, retention, say, test, upload } from './stage.ts';

const thumbs = { up: 'Good answer', down: 'Bad answer' };

/** What the server keeps of the latest answer's feedback. */
async function kept(page: Page): Promise<{ signal: string; notes: string; corrected_text: string } | null> {
  const token = await page.evaluate(() => sessionStorage.getItem('liminal.token'));
  const id = new URL(page.url()).pathname.split('/').at(-1);
  const got = await page.request.get(new URL(`/v1/conversations/${id}/messages?latest=true`, page.url()).href, { headers: { Authorization: `Bearer ${token}` } });
  expect(got.ok(), await got.text()).toBe(true);
  const { data } = (await got.json()) as { data: { data: { role: string; feedback: { signal: string; notes: string; corrected_text: string } | null }[] } };
  return data.data.findLast((one) => one.role === 'assistant')?.feedback ?? null;
}

function pressed(page: Page, name: string) {
  return page.locator('.turn').last().getByRole('button', { name, pressed: true });
}

// Requirements: API-14, PREF-01
test('one press under an answer that was just given says what one thinks, and is undone at once', async ({ page }) => {
  // The way back is offered for five seconds, which a machine that stands still lets pass.
  await page.addInitScript(() => {
    const { setTimeout: later } = window;
    const patient = (act: TimerHandler, ms?: number, ...given: unknown[]) => later(act, ms === 5_000 ? 120_000 : ms, ...given);
    Object.assign(window, { setTimeout: patient });
  });
  await enter(page);
  await say(page, 'What is a lemma?');
  const turn = await answered(page);
  await turn.getByRole('button', { name: thumbs.up }).click();
  await expect(pressed(page, thumbs.up)).toBeVisible();
  await expect(turn.getByText('Noted.')).toBeVisible();
  await expect.poll(async () => (await kept(page))?.signal).toBe('like');
  await turn.getByRole('button', { name: 'Undo' }).click();
  await expect(pressed(page, thumbs.up)).toHaveCount(0);
  await expect(turn.getByRole('button', { name: thumbs.up })).toBeFocused();
  await expect.poll(() => kept(page)).toBeNull();
});

test('what was said stays pressed after a reload, and can be taken back at any time', async ({ page }) => {
  await enter(page);
  await say(page, 'What is a lemma?');
  const turn = await answered(page);
  await turn.getByRole('button', { name: thumbs.up }).click();
  await expect(turn.getByRole('button', { name: 'Add a note' })).toHaveAttribute('aria-disabled', 'false'); // it is kept
  await turn.getByRole('button', { name: thumbs.down }).click();
  await expect.poll(async () => (await kept(page))?.signal).toBe('dislike');
  await expect(turn.getByRole('button', { name: 'Undo' })).toHaveCount(0, { timeout: 60_000 }); // the offer goes, the thumb stays
  await page.reload();
  await expect(pressed(page, thumbs.down)).toBeVisible();
  await page.locator('.turn').last().getByRole('button', { name: thumbs.down }).click();
  await expect(pressed(page, thumbs.down)).toHaveCount(0);
  await expect.poll(() => kept(page)).toBeNull();
});

// Requirements: PREF-04 (stored)
test('a note says why, and what the answer should have been', async ({ page }) => {
  await enter(page);
  await say(page, 'What is a lemma?');
  const turn = await answered(page);
  await turn.getByRole('button', { name: thumbs.down }).click();
  await turn.getByRole('button', { name: 'Add a note' }).click();
  await expect(turn.getByLabel('Why?')).toBeFocused();
  await turn.getByLabel('Why?').press('Escape');
  await expect(turn.getByRole('button', { name: 'Add a note' })).toBeFocused();
  await turn.getByRole('button', { name: 'Add a note' }).click();
  await turn.getByLabel('Why?').fill('It knows nothing of words.');
  await turn.getByLabel('What it should have said').fill('A small sentence on the way to a larger one.');
  await turn.getByLabel('Never answer like this again').check();
  await accessible(page, 'a note');
  await turn.getByRole('button', { name: 'Save note' }).click();
  await expect(turn.getByRole('button', { name: 'Change the note' })).toBeVisible();
  await expect.poll(() => kept(page)).toMatchObject({ signal: 'never', notes: 'It knows nothing of words.', corrected_text: 'A small sentence on the way to a larger one.' });
});

// Requirements: PREF-02
test('words of praise are noted as feedback on the answer before, and taken back', async ({ page }) => {
  await enter(page);
  await say(page, 'What is a lemma?');
  await answered(page);
  await say(page, 'I like this approach. What is a corollary?');
  await expect(page.locator('.turn')).toHaveCount(2);
  await answered(page);
  const noted = page.locator('.turn').last().locator('.noted');
  await expect(noted).toContainText('Noted as feedback on the answer above: you like it.');
  await expect(page.locator('.turn').first().getByRole('button', { name: thumbs.up, pressed: true })).toBeAttached();
  await noted.getByRole('button', { name: 'Undo' }).click();
  await expect(noted).toContainText('Taken back');
  await expect(page.locator('.turn').first().getByRole('button', { name: thumbs.up, pressed: false })).toBeAttached();
  await page.reload();
  await expect(page.locator('.noted')).toContainText('Taken back');
});

// Requirements: UI-08, UI-09
test('the section beneath the box takes feedback and shows what is known of an answer', async ({ page }) => {
  await enter(page);
  const section = page.locator('details.section', { hasText: 'Feedback' });
  await section.getByText('Feedback', { exact: true }).click();
  await expect(section.getByRole('button', { name: thumbs.up })).toBeDisabled();
  await expect(section.getByLabel('On which answer')).toBeDisabled();
  await upload(page, 'retention.md', retention);
  await expect(page.getByText(/Ready/)).toBeVisible();
  await say(page, 'How many years shall records be retained?');
  await answered(page);
  await section.locator('summary').first().click(); // a conversation of its own begins with it closed
  await expect(section.getByText('Target', { exact: true })).toBeVisible();
  const id = new URL(page.url()).pathname.split('/').at(-1)!;
  await expect(section.locator('.feedback-part').first()).toContainText(id);
  for (const [name, holds] of [['Adapters', '[]'], ['Context snippets', 'seven years'], ['Gates', /[{[]/], ['Trace', 'steps']] as const) {
    const part = section.locator('.feedback-part', { has: page.getByText(name, { exact: true }) });
    await part.locator('summary').click();
    await expect(part.locator('.json')).toContainText(holds);
  }
  await section.getByLabel('Why?').fill('Exactly seven.');
  await section.getByRole('button', { name: thumbs.up }).click();
  await expect(pressed(page, thumbs.up)).toBeVisible();
  await expect.poll(() => kept(page)).toMatchObject({ signal: 'like', notes: 'Exactly seven.' });
  await accessible(page, 'the section');
});

for (const shape of [
  { name: 'dark', scheme: 'dark' as const, size: { width: 1360, height: 860 } },
  { name: 'phone', scheme: 'light' as const, size: { width: 390, height: 800 } },
]) {
  test(`feedback has room and can be read: ${shape.name}, in German`, async ({ page }) => {
    await page.emulateMedia({ colorScheme: shape.scheme, reducedMotion: 'reduce' });
    await enter(page);
    await page.evaluate(() => localStorage.setItem('liminal.language', 'de'));
    await page.reload();
    await page.setViewportSize(shape.size);
    await say(page, 'What is a lemma?');
    const turn = await answered(page);
    await turn.getByRole('button', { name: 'Gute Antwort' }).click();
    await turn.getByRole('button', { name: 'Notiz hinzufügen' }).click();
    await accessible(page, 'a note in German');
    const tooWide = () => page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
    expect(await tooWide()).toBe(false);
    await turn.getByRole('button', { name: 'Abbrechen' }).click();
    await page.locator('details.section summary', { hasText: 'Rückmeldung' }).click();
    await expect(page.getByText('Worum es geht')).toBeVisible();
    await accessible(page, 'the section in German');
    expect(await tooWide()).toBe(false);
    await expect(box(page)).toBeVisible();
  });
}
