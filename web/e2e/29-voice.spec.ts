// Dictation and reading aloud, with the browser's own microphone (which beeps)
// and a speech server that speaks OpenAI's protocol: it hears the same sentence
// in everything.

import type { Page } from '@playwright/test';
import { accessible, answered, box, enter, expect, holds, retention, say, test, upload } from './stage.ts';

const heard = 'What is the notice period?';

/** What the page sends to hear and to say. */
function watched(page: Page): { heard: number; said: string[] } {
  const sent = { heard: 0, said: [] as string[] };
  page.on('request', (request) => {
    if (request.url().endsWith('/v1/audio/transcriptions')) sent.heard++;
    if (request.url().endsWith('/v1/audio/speech')) sent.said.push((request.postDataJSON() as { input: string }).input);
  });
  return sent;
}

// Requirements: CHAT-21
test('what is dictated lands in the box, to be changed and sent by hand', async ({ page }) => {
  await enter(page);
  const sent = watched(page);
  const mic = page.getByRole('button', { name: 'Dictate' });
  await box(page).fill('Please:');
  await mic.focus();
  await page.keyboard.press('Enter');
  const stop = page.getByRole('button', { name: 'Stop dictating' });
  await expect(stop).toHaveAttribute('aria-pressed', 'true');
  await expect(page.getByRole('status').getByText('Listening. Press the button again to stop')).toBeAttached();
  await accessible(page, 'while it listens');
  await page.waitForFunction(() => /^0:(0[1-9]|[1-5])/.test(document.querySelector('.clock')?.textContent ?? '')); // so much was said
  await page.keyboard.press('Enter');
  await holds(page, `Please: ${heard}`);
  await expect(box(page)).toBeFocused();
  await expect(page.locator('.turn'), 'nothing is sent by itself').toHaveCount(0);
  await page.keyboard.press('Control+z');
  await holds(page, 'Please:');

  await mic.click();
  await stop.waitFor();
  await page.keyboard.press('Escape');
  await expect(mic).toHaveAttribute('aria-pressed', 'false');
  await holds(page, 'Please:');
  expect(sent.heard, 'what was discarded is not sent').toBe(1);
});

// Requirements: CHAT-21
test('what goes wrong with the microphone is said beside it, and nothing is lost', async ({ page, watch }) => {
  await enter(page);
  await box(page).fill('Kept');
  const mic = page.getByRole('button', { name: 'Dictate' });
  const refusedBy = (name: string) =>
    page.evaluate((one) => {
      navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('no', one));
    }, name);
  await refusedBy('NotAllowedError');
  await mic.click();
  await expect(page.getByRole('alert')).toContainText('does not let this page use the microphone');
  await refusedBy('NotFoundError');
  await mic.click();
  await expect(page.getByRole('alert')).toContainText('No microphone was found');
  await page.reload();
  watch.expected.push(/502/);
  await page.route('**/v1/audio/transcriptions', (route) =>
    route.fulfill({ status: 502, json: { error: { message: 'The speech server at s cannot be reached.', type: 'server_error', param: null, code: 'upstream' } } }),
  );
  await mic.click();
  await page.waitForFunction(() => /^0:(0[1-9]|[1-5])/.test(document.querySelector('.clock')?.textContent ?? ''));
  await page.getByRole('button', { name: 'Stop dictating' }).click();
  await expect(page.getByRole('alert')).toContainText('could not be written down. The speech server at s cannot be reached.');
  await holds(page, 'Kept');
});

// Requirements: CHAT-21
test('an answer is read aloud, in the voice its listener chose, until it is told to stop', async ({ page, watch }) => {
  await enter(page);
  const sent = watched(page);
  await upload(page, 'retention.md', retention);
  await expect(page.getByText(/^Ready/)).toBeVisible();
  await say(page, 'How long are records retained?');
  const turn = await answered(page);
  await turn.getByRole('button', { name: 'Read aloud' }).click();
  const stop = turn.getByRole('button', { name: 'Stop reading aloud' });
  await expect(stop).toHaveAttribute('aria-busy', 'false'); // it is heard
  expect(sent.said[0]).toContain('seven years');
  expect(sent.said[0]).not.toContain('[1]');
  await stop.click();
  await expect(turn.getByRole('button', { name: 'Read aloud' })).toHaveAttribute('aria-pressed', 'false');

  watch.expected.push(/400/); // there is no such voice
  await page.goto('/settings');
  const card = page.getByRole('region', { name: 'Voice' });
  await card.getByLabel('Voice').fill('nobody');
  await card.getByRole('button', { name: 'Save' }).click();
  await expect(card.getByRole('status')).toHaveText('Saved.');
  await card.getByRole('button', { name: 'Listen to it' }).click();
  await expect(card.getByRole('alert')).toContainText('The voice nobody is not one of alloy, nova');
  await card.getByLabel('Voice').fill('nova');
  await card.getByRole('button', { name: 'Save' }).click();
  await expect(card.getByRole('status')).toHaveText('Saved.');
  const [spoken] = await Promise.all([page.waitForResponse('**/v1/audio/speech'), card.getByRole('button', { name: 'Listen to it' }).click()]);
  expect(spoken.status()).toBe(200);
  await accessible(page, 'settings with a voice');
});

// Requirements: CHAT-21
test('where no speech server is set up there is neither microphone nor loudspeaker', async ({ page }) => {
  await page.route('**/v1/config/ui', async (route) => {
    const response = await route.fetch();
    const body = (await response.json()) as { data: Record<string, unknown> };
    await route.fulfill({ response, json: { ...body, data: { ...body.data, speech_to_text: false, text_to_speech: false } } });
  });
  await enter(page);
  await say(page, 'Hello');
  const turn = await answered(page);
  await expect(turn.getByRole('button', { name: 'Copy answer' })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Dictate' })).toHaveCount(0);
  await expect(page.getByRole('button', { name: 'Read aloud' })).toHaveCount(0);
});
