import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { knock } from './account.ts';
import { Agent, proxyAddress } from './agent.ts';
import { accessible, enter, expect, test } from './stage.ts';

/** A picture to look at, where somebody wants one. */
async function shot(page: Page, name: string): Promise<void> {
  if (process.env['SHOTS']) await page.screenshot({ path: `${process.env['SHOTS']}/palace-${name}.png` });
}

// What one captured the next look at.
test.describe.configure({ mode: 'serial' });

let owner = ''; // the first account: what is captured is its

async function asOwner(page: Page, address: string): Promise<void> {
  await page.goto(address);
  await knock(page, owner);
}

const markup = '<script>window.taken = true</script><b>bold</b>';

test('what agents said is looked at from all of them down to one request', async ({ page, watch }) => {
  watch.expected.push(/404 \(Not Found\)/); // of what this version of the server does not tell
  owner = await enter(page);
  await page.goto('/operate/palace');
  await expect(page.getByText('liminald palace run -- claude')).toBeVisible();
  await accessible(page, 'nothing captured');
  await shot(page, 'empty');

  const base = proxyAddress('spec');
  const main = new Agent(page, base, { 'X-Claude-Code-Session-Id': 's' });
  await main.say('Run the command, then say so.');
  await main.result(`a-tool-ran\n${markup}`);
  await main.say(`And now ${markup}`);
  await main.result('again');
  const below = new Agent(page, base, { 'X-Claude-Code-Session-Id': 's', 'X-Claude-Code-Agent-Id': 'a1' });
  await below.say('Look at part 1.');

  // The list is looked at again by itself.
  const agents = page.getByRole('region', { name: 'Agents' });
  await expect(agents.getByRole('link')).toHaveText(['Agent 1', 'Subagent 2'], { timeout: 90_000 });
  await expect(agents.getByRole('img').first()).toHaveAccessibleName(/tokens in its context: System and tools .*Tool results/);
  await accessible(page, 'agents');
  await shot(page, 'agents');

  await agents.getByRole('link', { name: 'Agent 1', exact: true }).click();
  const rail = page.getByRole('list', { name: 'Timeline' });
  await expect(rail.getByRole('heading')).toHaveText(['Turn 1', 'Turn 2']);
  await accessible(page, 'a timeline');
  await shot(page, 'timeline');
  const found = page.getByRole('searchbox', { name: 'Find in labels' });
  await found.fill('a-tool-ran <'); // the call has the word too
  await expect(rail.getByRole('listitem')).toHaveCount(2); // its turn, and it
  await rail.getByRole('link').first().focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');

  await expect(page.getByRole('heading', { level: 1 })).toHaveText(/^Block \d+-[0-9a-f]{4}/);
  await expect(page.locator('.says')).toContainText(markup);
  await page.getByRole('button', { name: 'Long' }).click();
  await expect(page.getByText('You said its tier')).toBeVisible();
  await expect(page.locator('.byline')).toContainText('Long');
  await accessible(page, 'a block');
  await shot(page, 'block');

  await page.getByRole('link', { name: 'Request it came in' }).click();
  await expect(page.locator('.verdict')).toContainText('Nothing is changed.');
  await page.getByText('Message 3, to the model').click();
  await expect(page.locator('.outline')).toContainText('a-tool-ran');
  await accessible(page, 'what was sent');
  await shot(page, 'sent');
  await page.getByRole('navigation', { name: 'Requests' }).getByRole('link', { name: 'Request 1', exact: false }).last().click();
  await expect(page.getByRole('heading', { level: 1 })).toContainText('Request 1');

  await page.goto('/operate/palace/cost');
  await expect(page.getByRole('heading', { level: 1, name: 'Cost' })).toBeVisible();
  await expect(page.locator('.skeleton')).toHaveCount(0);
  await accessible(page, 'cost');
  await shot(page, 'cost');

  // An answer as the events it came in.
  await page.goto('/operate/palace/agents/1');
  await rail.getByRole('link', { name: 'The command ran' }).first().click();
  await page.getByRole('button', { name: 'Frames' }).click();
  await expect(page.locator('.frames li').first()).toContainText('content_block_start');
  await page.getByRole('button', { name: 'Raw' }).click();
  await expect(page.locator('.says pre')).toContainText('event: content_block_delta');

  // On a phone, in German and in the dark, everything has room.
  const block = new URL(page.url()).pathname;
  await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
  await page.evaluate(() => localStorage.setItem('liminal.language', 'de'));
  await page.setViewportSize({ width: 360, height: 760 });
  await page.goto('/settings');
  await page.getByRole('link', { name: 'Palace' }).click();
  await expect(page.getByRole('link', { name: 'Subagent 2' })).toBeVisible();
  const exchange = `/operate/palace/exchanges/${await page.evaluate(async () => {
    const token = sessionStorage.getItem('liminal.token');
    const answer = await fetch('/v1/palace/exchanges', { headers: { Authorization: `Bearer ${token}` } });
    return ((await answer.json()) as { data: { data: { id: string }[] } }).data.data[0]!.id;
  })}`;
  for (const [name, address] of Object.entries({ agents: '/operate/palace', timeline: '/operate/palace/agents/1', block, sent: exchange, cost: '/operate/palace/cost' })) {
    await page.goto(address);
    await expect(page.locator('.palace h1')).toBeVisible();
    await expect(page.locator('.skeleton')).toHaveCount(0);
    await accessible(page, `${name} on a phone`);
    await shot(page, `phone-${name}`);
    expect(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth), name).toBe(0);
  }
  expect(await page.evaluate(() => 'taken' in window)).toBe(false);
});

// What a model proposes comes once an hour; TestBrowser has it come when the file "sweep"
// names it.
test('what a model proposes to keep of a history that has ended waits for its person', async ({ page, watch }) => {
  watch.expected.push(/404 \(Not Found\)/); // of a history without a plan
  await asOwner(page, '/operate/palace/notes');
  const off = page.getByText('notes.propose of your policy is off');
  await expect(off).toBeVisible();
  await accessible(page, 'no notes');
  await shot(page, 'notes-none');
  const made = await page.request.post(new URL('/v1/artifacts', page.url()).href, {
    headers: { Authorization: `Bearer ${await page.evaluate(() => sessionStorage.getItem('liminal.token'))}` },
    data: { type: 'policy.palace', name: 'default', schema: { kind: 'policy.palace', notes: { propose: true } } },
  });
  expect(made.ok(), await made.text()).toBe(true);
  await page.reload();
  await expect(page.getByText('It proposes 5 notes of each at most.')).toBeVisible();

  const base = proxyAddress('notes');
  const session = { 'X-Claude-Code-Session-Id': 'noted' };
  const ends = new Agent(page, base, session);
  for (const words of ['Run the command, then say so.', 'Say it again.', 'And again.', `No ${markup} here.`]) await ends.say(words);
  await new Agent(page, base, session).say('Something else.'); // after /clear
  await expect(async () => {
    await page.goto('/operate/palace');
    await page.locator('.agent-name').filter({ hasText: 'notes' }).getByRole('link').click({ timeout: 10_000 });
    await expect(page.getByText('after /clear')).toBeVisible({ timeout: 10_000 });
  }).toPass();
  await page.goto('/operate/palace/notes');
  const sweep = join(process.env['CONTROL']!, 'sweep');
  writeFileSync(sweep, 'palace-consolidation');
  await expect.poll(() => existsSync(sweep)).toBe(false);

  // They come by themselves; of the two the newer one is first.
  const notes = page.locator('.note');
  await expect(notes.locator('.note-says')).toHaveText(['Nobody wants <b>bold</b> here.', 'The command is run before it is said so.'], { timeout: 90_000 });
  await expect(page.getByRole('navigation', { name: 'Palace' }).getByRole('link', { name: 'Notes 2' })).toBeVisible({ timeout: 90_000 });
  await accessible(page, 'notes that wait');
  await shot(page, 'notes');
  await page.goto('/inbox');
  await page.getByRole('link', { name: '2 notes wait for you' }).click();

  // The buttons go with the decision and the focus with what came of it; the note is where it was.
  const [second, first] = [notes.nth(0), notes.nth(1)];
  await expect(first).toContainText('Keeping it makes its block Long');
  // The list is read again before the answer is there, and is without the note.
  await page.route('**/v1/palace/notes/*/keep', async (route) => {
    const answer = await route.fetch();
    await page.waitForResponse((one) => one.url().includes('/v1/palace/notes?'));
    await expect(notes).toHaveCount(1);
    await route.fulfill({ response: answer });
  }, { times: 1 });
  await first.getByRole('button', { name: 'Keep' }).press('Enter');
  await expect(first.getByRole('status')).toBeFocused();
  await expect(first.getByRole('status')).toContainText('Kept.');
  await second.getByRole('button', { name: 'Drop' }).click();
  await expect(second.getByRole('status')).toContainText('Dropped.');
  await accessible(page, 'notes that are decided on');
  await shot(page, 'notes-decided');
  await page.getByRole('button', { name: 'Dropped' }).click();
  await notes.getByRole('button', { name: 'Keep it after all' }).click();
  await expect(notes.getByRole('status')).toContainText('Its 2 blocks are Long by your word.');
  await page.getByRole('button', { name: 'Kept', exact: true }).click();
  await expect(notes).toHaveCount(2);
  await notes.nth(1).getByRole('list', { name: 'Drawn from' }).getByRole('link').first().click();
  await expect(page.getByText('You said its tier')).toBeVisible();
  await page.goBack();
  await notes.nth(1).getByRole('link', { name: /^Agent/ }).click();
  await expect(page.getByRole('list', { name: 'Notes' }).getByText('The command is run')).toBeVisible();
  await accessible(page, 'a history with notes');
  await shot(page, 'timeline-notes');

  await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
  await page.evaluate(() => localStorage.setItem('liminal.language', 'de'));
  await page.setViewportSize({ width: 360, height: 760 });
  const timeline = new URL(page.url());
  for (const [name, address] of Object.entries({ notes: '/operate/palace/notes?state=kept', none: '/operate/palace/notes', 'timeline-notes': timeline.pathname + timeline.search })) {
    await page.goto(address);
    await expect(page.locator('.palace h1')).toBeVisible();
    await expect(page.locator('.skeleton')).toHaveCount(0);
    await accessible(page, `${name} on a phone`);
    await shot(page, `phone-${name}`);
    expect(await page.evaluate(() => [...document.querySelectorAll('html, .note')].filter((one) => one.scrollWidth > one.clientWidth).length), name).toBe(0);
  }
});

// The last one: it takes all numbers that blocks can have, and what has none is asked of no model.
test('of ten thousand blocks those are drawn that are to be seen, and the last is two keys away', async ({ page, watch }) => {
  watch.expected.push(/404 \(Not Found\)/);
  await asOwner(page, '/operate/palace');
  const rail = page.getByRole('list', { name: 'Timeline' });
  const many = new Agent(page, proxyAddress('long'), { 'X-Claude-Code-Session-Id': 'long' });
  await many.say(Array.from({ length: 10_000 }, (_, at) => ({ type: 'text', text: `line ${at}` })));
  await expect(async () => {
    await page.goto('/operate/palace/agents/4');
    await expect(page.getByText('10,003 blocks')).toBeVisible({ timeout: 10_000 }); // they are taken in after they were said
  }).toPass();
  await rail.getByRole('link').first().focus();
  await page.keyboard.press('End');
  await expect(rail.getByRole('link', { name: /^\{"command"/ })).toBeFocused();
  expect(await rail.getByRole('listitem').count()).toBeLessThan(100);
  await page.getByRole('searchbox', { name: 'Find in labels' }).fill('line 9876');
  await expect(rail.getByRole('listitem')).toHaveCount(2);
});
