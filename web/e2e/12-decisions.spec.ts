// Also on the lane: a change that is decided on reaches the worker.
import type { Page } from '@playwright/test';
import { alsoAs, ask, asAdministrator, decision, longWay, propose, publish, tell, turns } from './change.ts';
import { accessible, expect, test } from './stage.ts';

const why = 'People who ask for the long way should be given it.';

async function open(page: Page, id: number): Promise<void> {
  await page.goto(`/operate/patches/${id}`);
}

/** Waits until the machines have done their part. */
async function readyToDecide(page: Page): Promise<void> {
  await expect(decision(page)).toContainText('waits for a decision', { timeout: 90_000 });
}

// Requirements: CFG-01, CFG-05, CFG-06, CFG-14, CFG-16
test('a change is proposed, checked, rehearsed, approved, applied, used, and rolled back', async ({ page, browser }) => {
  await asAdministrator(page);
  const artifact = await publish(page, 'greeting');
  const power = await alsoAs(browser, page, 'power', 'pat');
  await expect((await tell(power, artifact, 'long please')).locator('.prose')).toHaveText('The short way.');
  await tell(power, artifact, 'hello');
  const id = await propose(power, artifact, longWay, why);

  // Who proposed it sees it, and that others decide.
  await open(power, id);
  await readyToDecide(power);
  await expect(decision(power).getByRole('button', { name: 'Approve' })).toHaveCount(0);
  await expect(decision(power).locator('.why-not')).toHaveText(/administrators/);

  // The administrator finds it among the decisions.
  await page.getByRole('link', { name: /^Operate/ }).click();
  const row = page.getByRole('list', { name: 'Proposed changes' }).getByRole('listitem').filter({ hasText: artifact.name });
  await expect(row).toContainText(why);
  await expect(row).toContainText('waits for a decision');
  await row.getByRole('link').click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(`${artifact.name} v1 → v2`);
  await expect(page.locator('.why')).toContainText(why);
  await expect(page.locator('.diff')).toContainText('long please');
  for (const name of ['schema', 'references', 'expressions', 'limits', 'rehearsal']) await expect(page.locator('.checks li').filter({ hasText: name })).toHaveAttribute('data-state', 'ok');

  // What it would have done to the runs there were, side by side.
  const rehearsal = page.locator('.rehearsals');
  await expect(rehearsal).toContainText('on 2 of 2 recorded runs');
  await expect(rehearsal.locator('.figures').first()).toContainText('1 of 2');
  await rehearsal.locator('.example summary').first().click();
  await expect(rehearsal.locator('.way').first()).toContainText('short');
  await expect(rehearsal.locator('.way').last().locator('[data-parted]')).toContainText(['long']);
  await page.getByRole('button', { name: 'Workflow', exact: true }).click();
  await expect(page.locator('.picture')).toBeVisible();
  await accessible(page, 'a patch that waits');

  // Two acts, each said aloud, the focus on what comes next.
  await decision(page).getByRole('button', { name: 'Approve' }).click();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await expect(decision(page).getByRole('button', { name: 'Approve' })).toBeFocused();
  await decision(page).getByRole('button', { name: 'Approve' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Note (optional)').fill('As we said on Monday.');
  await dialog.getByRole('button', { name: 'Approve' }).click();
  await expect(decision(page).getByRole('status')).toHaveText('Approved.');
  await expect(decision(page)).toContainText('approved, to be applied');
  await expect(decision(page).getByRole('heading')).toBeFocused();
  expect(await versionOf(page, artifact.id)).toBe(1);
  await decision(page).getByRole('button', { name: 'Apply' }).click();
  await accessible(page, 'the dialog');
  await dialog.getByRole('button', { name: 'Apply' }).click();
  await expect(decision(page)).toContainText('Applied');
  expect(await versionOf(page, artifact.id)).toBe(2);
  await expect(page.locator('.history')).toContainText('As we said on Monday.');

  // A turn that begins now follows it.
  await expect((await tell(power, artifact, 'long please')).locator('.prose')).toHaveText('The long way.');

  // Back again, by a version more.
  const back = decision(page).getByRole('button', { name: `Roll back to ${artifact.name} v1` });
  await back.click();
  await dialog.getByLabel('Reason').fill('It was too long.');
  await dialog.getByRole('button', { name: 'Roll back', exact: true }).click();
  await expect(decision(page)).toContainText('rolled back');
  await expect(decision(page)).toContainText('It was too long.');
  expect(await versionOf(page, artifact.id)).toBe(3);
  await expect((await tell(power, artifact, 'long please')).locator('.prose')).toHaveText('The short way.');
  await page.goto('/operate?status=rolled_back');
  await expect(page.getByRole('listitem').filter({ hasText: artifact.name })).toContainText('rolled back');
  await power.context().close();
});

async function versionOf(page: Page, artifact: string): Promise<number> {
  const found = await ask<{ version: number; artifact?: { version: number } }>(page, 'GET', `/v1/artifacts/${artifact}`);
  return found.artifact?.version ?? found.version;
}

// Requirements: CFG-04, CFG-14
test('a rejection needs its reason, and nobody approves what they proposed', async ({ page, browser }) => {
  await asAdministrator(page);
  const artifact = await publish(page, 'refused');
  const other = await alsoAs(browser, page, 'admin', 'olga');
  const id = await propose(page, artifact, longWay, why);
  await open(page, id);
  await readyToDecide(page);
  await expect(decision(page).getByRole('button', { name: 'Approve' })).toHaveCount(0);
  await expect(decision(page).locator('.why-not')).toHaveText(/Nobody approves a patch of their own/);

  await open(other, id);
  await readyToDecide(other);
  await decision(other).getByRole('button', { name: 'Reject' }).click();
  const dialog = other.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Reject' }).click();
  await expect(dialog.getByLabel('Reason')).toBeFocused(); // it stays, and says where
  await dialog.getByLabel('Reason').fill('Nobody asks for that.');
  await dialog.getByRole('button', { name: 'Reject' }).click();
  await expect(decision(other)).toContainText('Nobody asks for that.');
  await expect(decision(page)).toContainText('Nobody asks for that.'); // the other page looks again by itself
  // There is nothing left to decide; who wrote it may go on with it.
  await expect(decision(page).getByRole('button')).toHaveText(['Open it in the editor']);
  await decision(page).getByRole('button').click();
  await expect(page.getByText('What you wrote here before is back.')).toBeVisible();
  await expect(page.getByLabel('Why', { exact: true })).toHaveValue(why);
  await expect(page.locator('.cm-content')).toContainText('long please');
  await other.context().close();
});

// Requirements: CFG-14, ART-07
test('a patch whose base has moved is rebased, and its successor says so', async ({ page, browser }) => {
  await asAdministrator(page);
  const artifact = await publish(page, 'moving');
  const power = await alsoAs(browser, page, 'power', 'paul');
  const id = await propose(power, artifact, longWay, why);
  await open(page, id);
  await readyToDecide(page);
  await decision(page).getByRole('button', { name: 'Approve' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Approve' }).click();
  await expect(decision(page).getByRole('button', { name: 'Apply' })).toBeVisible();
  await ask(page, 'PATCH', `/v1/artifacts/${artifact.id}`, { patch: [{ op: 'replace', path: '/nodes/1/response', value: 'The way.' }], base_version: 1 });
  await expect(decision(page)).toContainText('made for v1, and it is at v2');
  await expect(decision(page).getByRole('button', { name: 'Apply' })).toHaveCount(0);
  await decision(page).getByRole('button', { name: 'Rebase and re-run' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Rebase and re-run' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(`${artifact.name} v2 → v3`);
  await readyToDecide(page);
  await page.getByRole('link', { name: `continues #${id}` }).click();
  await expect(decision(page)).toContainText('superseded');
  await power.context().close();
});

// Requirements: CFG-07 (schema), CFG-14, GRND-37 (errors)
test('a patch that fails its checks tells what is wrong and leads to the place', async ({ page }) => {
  await asAdministrator(page);
  const artifact = await publish(page, 'broken');
  const id = await propose(page, artifact, [{ op: 'add', path: '/nodes/0/branches/0', value: { when: "input.message == 'x'", next: 'nowhere' } }], why);
  await open(page, id);
  await expect(decision(page)).toContainText('It failed its checks', { timeout: 90_000 });
  const failed = page.locator('.checks li[data-state=failed]');
  await expect(failed).toContainText('nowhere');
  await failed.getByRole('button', { name: /^Show \/nodes\/0/ }).click();
  await expect(page.locator('.located mark')).toContainText('nowhere');
  await accessible(page, 'an invalid patch');
  await page.evaluate(() => localStorage.setItem('liminal.language', 'de'));
  await page.reload();
  await expect(failed).toContainText('nowhere ist kein Knoten.');
});

// Requirements: CFG-11, CFG-14
test('what sends half of the runs another way needs two people, and begins with a share', async ({ page, browser }) => {
  await asAdministrator(page);
  const artifact = await publish(page, 'grave');
  const other = await alsoAs(browser, page, 'admin', 'otto');
  const power = await alsoAs(browser, page, 'power', 'pia');
  await turns(power, artifact, 'long please', 4);
  const id = await propose(power, artifact, longWay, why);
  const dialog = (of: Page) => of.getByRole('dialog');
  for (const [one, count] of [[page, 0], [other, 1]] as const) {
    await open(one, id);
    await readyToDecide(one);
    await expect(decision(one)).toContainText(`${count} of 2 approvals`);
    await expect(decision(one)).toContainText('Two people must approve');
    await decision(one).getByRole('button', { name: 'Approve' }).click();
    await dialog(one).getByRole('button', { name: 'Approve' }).click();
    await expect(dialog(one)).toHaveCount(0);
  }
  await expect(decision(page)).toContainText('approved, to be applied'); // found out by looking again
  await decision(page).getByRole('button', { name: 'Apply' }).click();
  await dialog(page).getByLabel('A share of them first').check();
  await dialog(page).getByLabel('Share, in percent').fill('25');
  await dialog(page).getByLabel('Hours to watch it').fill('2');
  await dialog(page).getByRole('button', { name: 'Apply' }).click();
  await expect(decision(page)).toContainText('25 % of new runs follow it.');
  await expect(page.locator('.watch')).toContainText('nothing to compare yet');
  await turns(power, artifact, 'long please', 1);
  await open(page, id);
  await expect(page.locator('.watch')).toContainText('failures');
  await accessible(page, 'a patch that is watched');
  await decision(page).getByRole('button', { name: 'Give it all runs' }).click();
  await dialog(page).getByRole('button', { name: 'Give it all runs' }).click();
  await expect(page.locator('.history')).toContainText('gave it all runs');
  await expect(decision(page)).not.toContainText('25 %');
  await other.context().close();
  await power.context().close();
});

// Requirements: CFG-14
test('what the rehearsal warns of is approved by its name, and rehearsed again with other answers', async ({ page, browser }) => {
  await asAdministrator(page);
  const artifact = await publish(page, 'daring');
  const power = await alsoAs(browser, page, 'power', 'petra');
  await turns(power, artifact, 'hello', 2);
  const unknown = { id: 'model', type: 'tool_call', tool: 'llm.generic_chat_v1', inputs: { message: '${input.message}' } };
  const id = await propose(power, artifact, [{ op: 'add', path: '/nodes/0/branches/0', value: { when: "input.message == 'hello'", next: 'model' } }, { op: 'add', path: '/nodes/-', value: unknown }], why);
  await open(page, id);
  await readyToDecide(page);
  await expect(page.locator('.rehearsals')).toContainText('cannot be told');
  await decision(page).getByRole('button', { name: 'Approve' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Approve' }).click();
  await expect(dialog.getByLabel(/^The rehearsal warns/)).toBeFocused();
  await page.keyboard.press('Escape');

  await page.getByRole('button', { name: 'Rehearse again' }).click();
  await dialog.getByLabel('What the record does not hold').selectOption({ label: 'answer from a table' });
  await dialog.getByLabel(/^Answers, as JSON/).fill('not JSON');
  await dialog.getByRole('button', { name: 'Rehearse' }).click();
  await expect(dialog.getByRole('alert')).toHaveText('This is not a JSON object.');
  await dialog.getByLabel(/^Answers, as JSON/).fill('{"llm.generic_chat_v1": {"answer": "Hello."}}');
  await dialog.getByRole('button', { name: 'Rehearse' }).click();
  await expect(dialog).toHaveCount(0);
  await expect(page.locator('.rehearsals')).not.toContainText('cannot be told');
  await power.context().close();
});

for (const shape of [
  { name: 'dark', scheme: 'dark' as const, size: { width: 1360, height: 860 } },
  { name: 'phone', scheme: 'light' as const, size: { width: 390, height: 800 } },
]) {
  // Requirements: UI-02 (single column below 640 px)
  test(`decisions have room and contrast, also in German: ${shape.name}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme: shape.scheme, reducedMotion: 'reduce' });
    await page.setViewportSize(shape.size);
    await asAdministrator(page);
    const artifact = await publish(page, 'seen');
    const id = await propose(page, artifact, longWay, why);
    await page.evaluate(() => localStorage.setItem('liminal.language', 'de'));
    await page.goto('/operate');
    await expect(page.getByRole('heading', { name: 'Entscheidungen' })).toBeVisible();
    await expect(page.getByRole('listitem').filter({ hasText: artifact.name })).toBeVisible();
    await accessible(page, 'the list');
    await open(page, id);
    await expect(decision(page)).toContainText('wartet auf eine Entscheidung', { timeout: 90_000 });
    await expect(page.locator('.why-not')).toBeVisible();
    expect(await page.evaluate(() => [...document.querySelectorAll('html, main')].some((one) => one.scrollWidth > one.clientWidth))).toBe(false);
    await accessible(page, 'a patch');
    await decision(page).getByRole('button', { name: 'Zurückziehen' }).click();
    await accessible(page, 'a dialog');
    await page.getByRole('dialog').getByRole('button', { name: 'Zurückziehen' }).click();
    await expect(decision(page)).toContainText('zurückgezogen');
  });
}
