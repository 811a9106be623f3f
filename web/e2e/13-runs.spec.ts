// Also on the lane: the worker is asked how a run stands.
import type { Page } from '@playwright/test';
import { alsoAs, ask, asAdministrator, publish, tell, type Made } from './change.ts';
import { accessible, expect, test, what, which } from './stage.ts';

// Requirements: GRAPH-18 (order), GRAPH-30, UI-02 (single column below 640 px)
test('an answer leads to the run behind it, its way, its reasons, and the same run on another version', async ({ page }) => {
  await asAdministrator(page);
  const artifact = await publish(page, 'traced');
  const turn = await tell(page, artifact, 'hello');
  await turn.getByRole('link', { name: 'Trace' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(`${artifact.name} v1`);
  const steps = page.locator('.trace').getByRole('listitem');
  await expect(steps.filter({ hasText: 'switch' })).toContainText('route');
  await steps.filter({ hasText: 'switch' }).getByRole('button').click();
  await expect(page.locator('.why-way')).toContainText('true');
  await expect(page.locator('.why-way')).toContainText('short');
  await expect(page.locator('.picture')).toBeVisible();
  await accessible(page, 'a run');

  const patch = [
    { op: 'add', path: '/nodes/0/branches/0', value: { when: "input.message == 'hello'", next: 'warm' } },
    { op: 'add', path: '/nodes/-', value: { id: 'warm', type: 'end', response: 'A warm welcome.' } },
  ];
  await ask(page, 'PATCH', `/v1/artifacts/${artifact.id}`, { patch, base_version: 1, change_note: 'warmer' });
  await page.reload();
  await page.locator('.replay').getByRole('combobox').selectOption('2');
  await page.getByRole('button', { name: 'Rehearse' }).click();
  const ways = page.locator('.replay .way');
  await expect(ways.first()).toContainText('short');
  await expect(ways.last().locator('[data-parted]')).toHaveText(['warm']);
  await expect(page.locator('.replay .outcome')).toContainText('How it would end: done');
  await accessible(page, 'a run on another version');
});

// Requirements: ISO-01, UI-02 (single column below 640 px)
test('an administrator finds everybody’s runs, and of another person’s only the way', async ({ page, browser }) => {
  await asAdministrator(page);
  const artifact = await publish(page, 'private');
  const other = await alsoAs(browser, page, 'user', 'uma');
  const secret = 'my secret is the rumpelstiltskin';
  await tell(other, artifact, secret);
  await other.goto('/operate/runs');
  const theirs = other.getByRole('list', { name: 'Runs' }).getByRole('listitem');
  await expect(theirs).toHaveCount(1);
  await expect(theirs.getByRole('link', { name: secret })).toBeVisible(); // to themselves
  await expect(other.getByRole('button', { name: 'Everybody’s' })).toHaveCount(0);

  await page.goto('/operate/runs');
  await page.getByLabel('Artifact').selectOption({ label: artifact.name });
  await expect(page.getByText('No run matches.')).toBeVisible();
  await page.getByRole('button', { name: 'Everybody’s' }).click();
  const rows = page.getByRole('list', { name: 'Runs' }).getByRole('listitem');
  await expect(rows).toHaveCount(1);
  await expect(rows).toContainText('uma');
  await accessible(page, 'the runs');
  await page.getByLabel('Status').selectOption('failed');
  await expect(page.getByText('No run matches.')).toBeVisible();
  await page.reload(); // the filter stands in the address
  await expect(page.getByLabel('Status')).toHaveValue('failed');
  await page.getByLabel('Status').selectOption('done');
  await rows.getByRole('link').click();
  await expect(page.locator('.trace')).toContainText('route');
  await expect(page.locator('body')).not.toContainText('rumpelstiltskin'); // a word: ids and times have any digits
  await other.context().close();
});

// Requirements: GRAPH-26, GRAPH-18 (order), ISO-01
test('a run that waits for a person shows where it stands, follows itself to its end, and tells others only the way', async ({ page, browser }) => {
  await asAdministrator(page);
  const schema = { kind: 'workflow.chat', title: 'waits', entrypoint: 'which', nodes: [which, what, { id: 'done', type: 'end', response: 'So be it.' }] };
  const { id: workflow } = await ask<Made>(page, 'POST', '/v1/artifacts', { type: 'workflow.chat', name: `waits_${Date.now()}`, visibility: 'global', schema });
  const other = await alsoAs(browser, page, 'user', 'ute');
  const started = await ask<{ run_id: string; conversation_id: string }>(other, 'POST', '/v1/chat', { message: 'audit it', workflow_id: workflow });

  for (const [who, asked] of [[other, 1], [page, 0]] as const) {
    await who.goto(`/operate/runs/${started.run_id}`);
    const steps = who.getByRole('region', { name: 'The way so far' }).getByRole('listitem');
    await expect(steps).toHaveCount(1);
    await expect(steps).toHaveAttribute('data-state', 'wait');
    await expect(steps).toContainText('waits for a person');
    await expect(who.locator('.picture .stands.wait')).toContainText('which');
    await expect(who.locator('.step')).toContainText('since');
    await expect(who.getByText('Two regulations match.')).toHaveCount(asked);
    await accessible(who, 'a run that waits');
  }

  const answer = (type: string, value: string) => ask(other, 'POST', '/v1/chat/resume', { conversation_id: started.conversation_id, resume_value: { type, value } });
  // In the list it is told from others by what it was asked, and to its person alone.
  for (const [who, said] of [[other, 1], [page, 0]] as const) {
    await who.goto(`/operate/runs?${said ? '' : 'all=true&'}status=waiting`);
    const runs = who.getByRole('list', { name: 'Runs' });
    await expect(runs).toBeVisible();
    await expect(runs.getByRole('link', { name: 'audit it' })).toHaveCount(said);
    await expect(runs.getByText('Waits with: Two regulations match.')).toHaveCount(said);
    await who.goto(`/operate/runs/${started.run_id}`);
    await expect(who.locator('.picture .stands.wait')).toContainText('which');
  }

  await answer('doc_choice', 'd1');
  for (const who of [other, page]) {
    await expect(who.locator('.picture .stands.wait')).toContainText('what');
    await expect(who.locator('.stops').getByRole('listitem').last()).toHaveAttribute('data-state', 'wait');
  }

  // A worker that is away: the page says so, keeps what it knew, and asks again.
  await page.route(`**/v1/runs/${started.run_id}`, async (route) => {
    const response = await route.fetch();
    const body = (await response.json()) as { data: { run: object } };
    body.data.run = { ...body.data.run, trace: null, live: { known: false, awaits: [] } };
    await route.fulfill({ response, json: body });
  });
  await expect(page.getByText('This is how it last stood.')).toBeVisible();
  await expect(page.locator('.stops').getByRole('listitem')).toHaveCount(2);
  await page.reload();
  await expect(page.getByText('its way so far is not to be had')).toBeVisible();
  await page.unroute(`**/v1/runs/${started.run_id}`);
  await expect(page.locator('.stops').getByRole('listitem')).toHaveCount(2);

  await answer('action_choice', 'audit');
  for (const who of [other, page]) {
    await expect(who.getByRole('region', { name: 'The way it went' }).getByRole('listitem')).toHaveCount(3);
    await expect(who.locator('[data-state=wait], .stands')).toHaveCount(0);
  }
  await other.context().close();
});

test('runs have room on a phone, in German and in the dark', async ({ page }) => {
  await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
  await page.setViewportSize({ width: 390, height: 800 });
  await asAdministrator(page);
  const artifact = await publish(page, 'small');
  await page.evaluate(() => localStorage.setItem('liminal.language', 'de'));
  await page.goto('/');
  await page.getByLabel('Ablauf', { exact: true }).selectOption({ label: artifact.name });
  await page.locator('#message').fill('hallo');
  await page.locator('#message').press('Enter');
  await page.locator('.turn-foot').getByRole('link', { name: 'Spur' }).click();
  await expect(page.getByText('So ging der Lauf')).toBeVisible();
  const tooWide = () => page.evaluate(() => [...document.querySelectorAll('html, main')].some((one) => one.scrollWidth > one.clientWidth));
  expect(await tooWide()).toBe(false);
  await accessible(page, 'a run');
  await page.getByRole('link', { name: 'Läufe', exact: true }).click();
  await expect(page.getByRole('heading', { name: 'Läufe' })).toBeVisible();
  expect(await tooWide()).toBe(false);
  await accessible(page, 'the runs');
});

/** Words that no German sentence has, so that one of them is an English sentence's. */
const english = /\b(the|and|is|are|not|this|with|your|you|has|have|which|from|there|waits?|took|failed|back)\b/i;

/** The English sentences that a page says, beside code; what anybody wrote is left out, and so are names of one word. */
async function englishOn(page: Page, ...written: string[]): Promise<string[]> {
  const texts = await page.evaluate(() => {
    const found: string[] = [];
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let text = walk.nextNode(); text; text = walk.nextNode()) if (!text.parentElement!.closest('code, pre, script, style, .picture, .said')) found.push(text.textContent ?? '');
    const named = [...document.querySelectorAll('[aria-label], [title]')].filter((one) => !one.closest('.picture'));
    return [...found, ...named.flatMap((one) => [one.ariaLabel ?? '', one.getAttribute('title') ?? ''])];
  });
  return texts.filter((text) => english.test(text) && text.trim().includes(' ') && !written.some((own) => text.includes(own)));
}

// Requirements: GRND-37 (errors)
test('a German page says in German what the server says', async ({ page }) => {
  await asAdministrator(page);
  const name = `bruch_${Date.now()}`;
  const nodes = [
    { id: 'suche', type: 'tool_call', tool: 'rag.search_v1', description: 'Finding passages…', inputs: { question: '${input.message}' }, next: 'lesen' },
    { id: 'lesen', type: 'tool_call', tool: 'files.read_v1', inputs: { path: 'files/nirgends.txt' }, next: 'ende' },
    { id: 'ende', type: 'end', response: 'Gut.' },
  ];
  const { id } = await ask<{ id: string }>(page, 'POST', '/v1/artifacts', { type: 'workflow.chat', name, visibility: 'global', schema: { kind: 'workflow.chat', title: name, entrypoint: 'suche', nodes } });
  await page.evaluate(() => localStorage.setItem('liminal.language', 'de'));
  await page.goto('/');
  await page.getByLabel('Ablauf', { exact: true }).selectOption({ label: name });
  await page.locator('#message').fill('hallo');
  await page.locator('#message').press('Enter');
  const turn = page.locator('.turn').last();
  await expect(turn.locator('.failure')).toContainText('Diese Datei gibt es nicht.');
  await expect(turn.locator('.evidence').first()).toContainText('keine Textstellen');
  await expect(turn.locator('.evidence').last()).toContainText('nicht gefunden');
  const inGerman = async () => expect(await englishOn(page, name)).toEqual([]);
  await inGerman();
  await page.reload();
  await expect(turn.locator('.failure')).toContainText('Diese Datei gibt es nicht.');
  await inGerman();
  await turn.getByRole('link', { name: 'Spur' }).click();
  await expect(page.locator('.run-head .problem')).toContainText('Diese Datei gibt es nicht.');
  await expect(page.locator('.made .problem')).toHaveText('Diese Datei gibt es nicht.');
  await page.getByText('Vor dem Graphen').click();
  await inGerman();
  await page.goto('/operate/runs');
  await expect(page.getByRole('list', { name: 'Läufe' }).getByText('Diese Datei gibt es nicht.')).toBeVisible();
  await inGerman();

  await ask(page, 'PATCH', `/v1/artifacts/${id}`, { patch: [{ op: 'replace', path: '/nodes/2/response', value: 'Besser.' }], base_version: 1, change_note: name });
  await ask(page, 'POST', `/v1/artifacts/${id}/versions/1/restore`);
  const proposed = await ask<{ id: number }>(page, 'POST', '/v1/config/patches', { artifact_id: id, patch: [{ op: 'replace', path: '/title', value: `${name} neu` }], justification: name });
  await page.goto(`/artifacts/${id}`);
  await expect(page.locator('.version-rail')).toContainText('zurück zu Version 1');
  await inGerman();
  await page.goto('/inbox');
  await expect(page.getByRole('link', { name: `Vorschlag ${proposed.id} zu dem Ablauf ${name} wartet auf eine Entscheidung.` })).toBeVisible({ timeout: 90_000 });
  expect(await englishOn(page)).toEqual([]);
  await page.goto('/artifacts');
  await expect(page.getByText('Der Dokumenten-Assistent: findet heraus, was zu tun ist')).toBeVisible();
  await inGerman();
});
