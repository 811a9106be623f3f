import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { alsoAs, asAdministrator } from './change.ts';
import { accessible, answered, expect, say, test } from './stage.ts';

const key = 'sk-of-the-browser-0815-wxyz';

/** A server that speaks the protocol of OpenAI and says who it is. */
async function model(name: string): Promise<{ server: Server; url: string; keys: string[] }> {
  const keys: string[] = [];
  const server = createServer((request, response) => {
    keys.push(request.headers.authorization ?? '');
    request.resume();
    if (request.method === 'GET') {
      response.end(JSON.stringify({ object: 'list', data: [{ id: 'tiny' }] }));
      return;
    }
    response.setHeader('Content-Type', 'text/event-stream');
    for (const choice of [{ index: 0, delta: { content: `This is ${name}.` } }, { index: 0, delta: {}, finish_reason: 'stop' }]) {
      response.write(`data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', model: 'tiny', choices: [choice] })}\n\n`);
    }
    response.end('data: [DONE]\n\n');
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, keys };
}

test('an administrator sets up a backend in the page, and people choose it', async ({ page, browser }) => {
  const { server, url, keys } = await model('the office');
  await asAdministrator(page);
  await page.goto('/');
  await expect(page.getByLabel('Workflow', { exact: true })).toBeVisible();
  await expect(page.getByLabel('Model', { exact: true })).toHaveCount(0); // nothing to choose shows nothing

  await page.goto('/operate');
  await page.getByRole('link', { name: 'Models' }).click();
  await expect(page.getByText('From the environment, not changeable here')).toBeVisible();
  await page.getByRole('button', { name: 'Add a backend' }).click();
  const form = page.getByRole('dialog');
  await form.locator('[name=name]').fill('office');
  await form.locator('[name=title]').fill('The office');
  await form.getByLabel('Protocol').selectOption('openai');
  await form.getByLabel('URL of the server').fill(url);
  await form.locator('[name=api_key]').fill(key);
  await form.locator('[name=model]').fill('tiny');
  await accessible(page, 'the form');
  await form.getByRole('button', { name: 'Save' }).click();
  const card = page.getByRole('region', { name: /The office/ });
  await expect(card).toContainText('set, ends in …wxyz');
  await card.getByRole('button', { name: 'Test' }).click();
  await expect(card.getByRole('status')).toContainText('This is the office.');
  expect(keys.at(-1)).toBe(`Bearer ${key}`);
  await card.getByLabel('People may choose it').check();
  await expect(page.getByRole('region', { name: 'What was done' })).toContainText('changed office: whether people may choose it');
  expect(await page.content()).not.toContain('of-the-browser'); // no digits: ids and times have any
  await accessible(page, 'backends');

  // A person who is no administrator chooses it, and the conversation keeps it.
  const person = await alsoAs(browser, page, 'user', 'pat');
  await person.goto('/');
  const picker = person.getByLabel('Model', { exact: true });
  await picker.selectOption({ label: 'The office' });
  await say(person, 'Who is there?');
  await expect(await answered(person)).toContainText('This is the office.');
  await person.reload();
  await expect(picker).toHaveValue('office');
  await say(person, 'Who is there now?');
  await expect(await answered(person)).toContainText('This is the office.');
  await person.goto('/operate/backends');
  await expect(person.getByRole('alert')).toContainText('Only administrators');

  // Removed, it is missed by name, and another can be chosen.
  await card.getByRole('button', { name: 'Remove' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await expect(card).toHaveCount(0);
  await person.goBack();
  await person.reload();
  await expect(picker.locator('option:checked')).toContainText('not offered any more');
  await picker.selectOption('');
  await say(person, 'And now?');
  await expect(await answered(person)).not.toContainText('This is the office.');
  await expect(picker).toHaveCount(0);
  server.close();
});

for (const shape of [
  { name: 'dark', scheme: 'dark' as const, width: 1360 },
  { name: 'on a phone', scheme: 'light' as const, width: 390 },
]) {
  test(`the page of backends can be read by everybody: ${shape.name}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme: shape.scheme, reducedMotion: 'reduce' });
    await page.setViewportSize({ width: shape.width, height: 860 });
    await asAdministrator(page);
    await page.goto('/operate/backends');
    await expect(page.getByText('From the environment, not changeable here')).toBeVisible();
    await accessible(page, shape.name);
    expect(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)).toBeLessThanOrEqual(0);
  });
}
