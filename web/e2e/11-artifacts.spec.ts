import type { Locator, Page } from '@playwright/test';
import { accessible, enter, expect, test } from './stage.ts';

const nodes = [
  { id: 'classify', type: 'tool_call', tool: 'llm.intent_classifier_v1', inputs: { message: '${input.message}' }, outputs: ['intent'] },
  {
    id: 'route',
    type: 'switch',
    branches: [
      { when: "intent == 'code_edit'", next: 'plain' },
      { when: 'true', next: 'plain' },
    ],
  },
  { id: 'plain', type: 'tool_call', tool: 'llm.generic_chat_v1', inputs: { message: '${input.message}' }, timeout_ms: 60000 },
];

interface Made {
  id: string;
  name: string;
  change(note: string, patch: object[]): Promise<void>;
}

let made = 0;

/** Makes an artifact of one's own, by the way programs do. */
async function own(page: Page, body: object = { type: 'workflow.chat', schema: { kind: 'workflow.chat', entrypoint: 'classify', nodes } }): Promise<Made> {
  const headers = { Authorization: `Bearer ${await page.evaluate(() => sessionStorage.getItem('liminal.token'))}` };
  const name = `own_${++made}_${Date.now()}`;
  const answer = await page.request.post('/v1/artifacts', { headers, data: { name, description: 'Asks, and answers.', ...body } });
  expect(answer.ok(), await answer.text()).toBe(true);
  const { data } = (await answer.json()) as { data: { id: string } };
  return {
    id: data.id,
    name,
    async change(note, patch) {
      const changed = await page.request.patch(`/v1/artifacts/${data.id}`, { headers, data: { patch, change_note: note } });
      expect(changed.ok(), await changed.text()).toBe(true);
    },
  };
}

const table = (page: Page) => page.getByRole('table');
const names = (page: Page) => table(page).locator('tbody').getByRole('link');

async function artifacts(page: Page): Promise<void> {
  await page.getByRole('navigation', { name: 'Parts of Liminal' }).getByRole('link', { name: 'Artifacts' }).click();
  await expect(table(page)).toBeVisible();
}

// Requirements: UI-11
test('artifacts are listed, narrowed by type and visibility, and sorted by every column', async ({ page }) => {
  await enter(page);
  const mine = await own(page);
  const policy = await own(page, { type: 'policy.routing', schema: { kind: 'policy.routing', rules: [] } });
  await artifacts(page);
  await expect(names(page).first()).toHaveText(policy.name); // changed last
  await expect(table(page).getByRole('columnheader')).toHaveText([/Type/, /Name/, /Visibility/, /Version/, /Updated/]);

  await page.getByLabel('Type').selectOption('workflow');
  await expect(names(page).first()).toHaveText(mine.name);
  await expect(table(page).locator('tbody td.type').getByText(/^(policy|tool|adapter)$/)).toHaveCount(0);
  await page.getByLabel('Visibility').selectOption('private');
  await expect(names(page)).toHaveText([mine.name]);
  await page.getByLabel('Visibility').selectOption('global');
  await expect(names(page).getByText('default', { exact: true })).toBeVisible();
  await expect(page).toHaveURL(/type=workflow.*visibility=global/);
  await page.reload();
  await expect(page.getByLabel('Type')).toHaveValue('workflow');

  const head = table(page).getByRole('columnheader', { name: 'Name' });
  await head.getByRole('button').click();
  await expect(head).toHaveAttribute('aria-sort', 'ascending');
  const up = await names(page).allInnerTexts();
  expect(up).toEqual(up.toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true })));
  await head.getByRole('button').click();
  await expect(head).toHaveAttribute('aria-sort', 'descending');
  await expect.poll(() => names(page).allInnerTexts()).toEqual(up.toReversed());
  for (const name of ['Type', 'Visibility', 'Version', 'Updated']) {
    const column = table(page).getByRole('columnheader', { name });
    await column.getByRole('button').click();
    await expect(column).not.toHaveAttribute('aria-sort', 'none');
  }
  await page.getByLabel('Find by name').fill('no such thing');
  await expect(page.getByText('No artifact fits.')).toBeVisible();
});

/** Which of red, green and blue a badge is coloured with, as a hue. */
async function hue(badge: Locator): Promise<number> {
  const [r, g, b] = await badge.evaluate((one) => /(\d+), (\d+), (\d+)/.exec(getComputedStyle(one).color)!.slice(1).map(Number) as [number, number, number]);
  const [most, least] = [Math.max(r, g, b), Math.min(r, g, b)];
  const turn = most === r ? (g - b) / (most - least) : most === g ? 2 + (b - r) / (most - least) : 4 + (r - g) / (most - least);
  return (turn * 60 + 360) % 360;
}

// Requirements: UI-12
test('badges tell types and visibilities by their colours', async ({ page }) => {
  await enter(page);
  await own(page, { type: 'policy.routing', schema: { kind: 'policy.routing', rules: [] } });
  await own(page, { type: 'adapter.lora', schema: { kind: 'adapter.lora', mode: 'prompt', prompt_instructions: 'Be brief.' } });
  await own(page, { type: 'workflow.chat', visibility: 'shared', schema: { kind: 'workflow.chat', entrypoint: 'classify', nodes } });
  await artifacts(page);
  const colour = (name: string) => hue(table(page).locator('tbody').getByText(name, { exact: true }).first());
  const within = async (name: string, least: number, most: number) => {
    const degrees = await colour(name);
    expect(degrees > least && degrees < most, `${name} has the hue ${degrees}`).toBe(true);
  };
  await within('workflow', 190, 250); // blue
  await within('policy', 300, 345); // pink
  await within('adapter', 110, 165); // green
  await within('global', 110, 165);
  await within('shared', 25, 50); // amber
  const red = await colour('private');
  expect(red < 15 || red > 350, `private has the hue ${red}`).toBe(true);
  await page.getByLabel('Type').selectOption('tool');
  if ((await names(page).count()) > 0) await within('tool', 25, 50); // amber
});

// Requirements: UI-13, ART-07
test('an artifact shows its facts, picture, document and versions; two are compared, and an old one is restored', async ({ page }) => {
  await enter(page);
  const { id, name, change } = await own(page);
  await change('Less patience.', [{ op: 'replace', path: '/nodes/2/timeout_ms', value: 45_000 }]);
  await change('Find something first.', [
    { op: 'add', path: '/nodes/2', value: { id: 'find', type: 'tool_call', tool: 'rag.search_v1', inputs: { question: '${input.message}' }, next: 'plain' } },
    { op: 'replace', path: '/nodes/1/branches/1/next', value: 'find' },
  ]);
  await artifacts(page);
  await page.getByRole('link', { name, exact: true }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(`${name} v3`);
  const facts = page.getByRole('region', { name: 'Facts' });
  await expect(facts).toContainText(id);
  await expect(facts).toContainText('You');
  await expect(page.getByText('Asks, and answers.')).toBeVisible();
  await expect(page.locator('.json .hljs-attr').first()).toBeVisible();

  // The rule for a missing next is the engine's; conditions stand in their order.
  await expect(page.locator('.node.switch .condition')).toHaveText([/1\s+intent == 'code_edit'/, /2\s+true/]);
  await page.getByText('As text').click();
  await expect(page.locator('.listed li').filter({ hasText: 'classify' }).first()).toContainText('→ route');

  const versions = page.getByRole('region', { name: 'Versions' });
  await expect(versions.getByRole('listitem')).toHaveText([/v3.*current.*a person.*Find something first\./, /v2.*Less patience\./, /v1/]);
  await versions.getByRole('link', { name: 'Compare version 1 with the current one' }).click();
  await expect(page).toHaveURL(/base=1/);
  const compared = page.getByRole('region', { name: 'From version 1 to 3' });
  await expect(compared.locator('.line.taken')).toContainText([/"next": "plain"/, /60000/]);
  await expect(compared.locator('.line.added mark')).toHaveText(['find', '45000']);
  await compared.locator('.fold').first().click();
  await expect(compared.locator('.line').first()).toContainText('{');
  await compared.getByRole('button', { name: 'Workflow' }).click();
  await expect(compared.locator('.node.touched')).toHaveCount(3);
  await accessible(page, 'a comparison');

  await versions.getByRole('button', { name: 'Restore version 1' }).click();
  const dialog = page.getByRole('dialog', { name: 'Restore version 1' });
  await dialog.getByLabel('Why').fill('The search was too slow.');
  await dialog.getByRole('button', { name: 'Restore' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(`${name} v4`);
  await expect(versions.getByRole('listitem').first()).toContainText('The search was too slow.');
  await expect(page.locator('.node')).toHaveCount(3);
});

/** Goes to the end of the first line whose text has something in it. */
async function behind(page: Page, words: string): Promise<void> {
  await page.locator('.cm-line').filter({ hasText: words }).first().click();
  await page.keyboard.press('End');
}

// Requirements: UI-13
test('the editor completes, finds faults where they stand, draws as one types, and keeps what is not proposed', async ({ page }) => {
  await enter(page);
  const { id } = await own(page);
  await page.goto(`/artifacts/${id}/edit`);
  await expect(page.getByRole('textbox', { name: /Document as JSON/ })).toBeVisible();
  await expect(page.getByText('No faults found.')).toBeVisible();
  await accessible(page, 'the editor');

  // A quote offers what may stand there; what is chosen is written whole.
  await behind(page, '"entrypoint"');
  await page.keyboard.press('Enter');
  await page.keyboard.type('"max_st');
  await page.getByRole('option', { name: 'max_steps' }).click();
  await page.keyboard.type('12,');
  await expect(page.getByRole('region', { name: /^Why/ })).toContainText('1 operation');

  // A node that is not there is a fault in its line, in the list, and in the picture.
  await behind(page, '"when": "true"');
  for (let n = 0; n < 3; n++) await page.keyboard.press('ArrowLeft');
  await page.keyboard.type('x');
  await expect(page.locator('.node.missing')).toContainText('plainx');
  const faults = page.getByRole('list', { name: '1 fault' });
  await expect(faults).toContainText('"plainx" is not a node');
  await expect(page.locator('.cm-lint-marker-error')).toHaveCount(1);
  await page.getByRole('button', { name: /^Go to/ }).click();
  await expect(page.locator('.cm-content')).toBeFocused();

  await page.reload();
  await expect(page.getByText('What you wrote here before is back.')).toBeVisible();
  await expect(page.locator('.cm-content')).toContainText('plainx');
  await expect(page.locator('.node.missing')).toBeVisible();

  await page.getByRole('button', { name: 'Start over' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Start over' }).click();
  await expect(page.locator('.cm-content')).not.toContainText('plainx');
  await expect(page.getByRole('button', { name: 'Rehearse' })).toBeDisabled();
});

// Requirements: UI-13, CFG-01, CFG-07 (dry run)
test('a change is rehearsed before it is proposed, and needs a reason; one’s own may be saved at once', async ({ page }) => {
  await enter(page);
  const { id, name } = await own(page);
  await page.goto(`/artifacts/${id}/edit`);
  await expect(page.locator('.cm-content')).toBeVisible();
  const write = async (steps: number) => {
    await behind(page, '"entrypoint"');
    await page.keyboard.press('Enter');
    await page.keyboard.type(`"max_visits": ${steps},`);
  };
  await write(9);
  await page.getByRole('button', { name: 'Rehearse' }).click();
  await expect(page.getByText('Every check is passed.')).toBeVisible();
  await expect(page.locator('.stops > li').first()).toBeVisible();
  await accessible(page, 'a rehearsal');
  await expect(page.getByRole('button', { name: 'Propose', exact: true })).toBeDisabled();
  await page.getByRole('textbox', { name: 'Why' }).fill('It must not go round and round.');
  await page.getByRole('button', { name: 'Propose', exact: true }).click();
  await expect(page).toHaveURL(/\/operate\/patches\/\d+/);
  await expect(page.getByText('It must not go round and round.').first()).toBeVisible();

  await page.goto(`/artifacts/${id}/edit`);
  await expect(page.locator('.cm-content')).toBeVisible();
  await write(8);
  await page.getByRole('button', { name: 'Save without a proposal' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(`${name} v2`);
});

// Requirements: ART-02
test('a new artifact begins with what passes', async ({ page }) => {
  await enter(page);
  await artifacts(page);
  await page.getByRole('link', { name: 'New artifact' }).click();
  const name = `fresh_${Date.now()}`;
  for (const kind of ['tool.spec', 'adapter.lora', 'policy.models', 'workflow.chat', 'policy.routing']) {
    await page.getByLabel('Type').selectOption(kind);
    await expect(page.locator('.cm-content')).toContainText(kind);
    await expect(page.getByText('No faults found.')).toBeVisible();
  }
  await page.getByLabel('Name', { exact: true }).fill(name);
  await page.getByRole('button', { name: 'Save as mine' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(`${name} v1`);
});

/** Whether the heads one sorts by stand in one row, all of it in sight. */
async function headsInOneRow(page: Page): Promise<boolean> {
  const tops = await page.locator('.list thead th').evaluateAll((all) => all.map((one) => one.getBoundingClientRect().top));
  return new Set(tops).size === 1 && (await page.locator('.list thead').evaluate((one) => one.scrollWidth <= one.clientWidth));
}

const shapes = [
  { name: 'light', scheme: 'light' as const, size: { width: 1360, height: 860 } },
  { name: 'dark', scheme: 'dark' as const, size: { width: 1360, height: 860 } },
  { name: 'phone', scheme: 'light' as const, size: { width: 390, height: 800 } },
];

for (const shape of shapes) {
  // Requirements: UI-02 (single column below 640 px)
  test(`artifacts are in nobody’s way: ${shape.name}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme: shape.scheme, reducedMotion: 'reduce' });
    await page.setViewportSize(shape.size);
    await enter(page);
    const { id, change } = await own(page);
    await change('Less patience.', [{ op: 'replace', path: '/nodes/2/timeout_ms', value: 45_000 }]);
    await artifacts(page);
    await accessible(page, 'the list');
    const tooWide = () => page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
    expect(await tooWide()).toBe(false);
    expect(await headsInOneRow(page)).toBe(true);
    await page.goto(`/artifacts/${id}?base=1`);
    await expect(page.locator('.picture')).toBeVisible();
    await expect(page.locator('.diff')).toBeVisible();
    await accessible(page, 'an artifact');
    expect(await tooWide()).toBe(false);
    await page.goto(`/artifacts/${id}/edit`);
    await expect(page.locator('.cm-content')).toBeVisible();
    await accessible(page, 'the editor');
    expect(await tooWide()).toBe(false);
    await page.goto('/artifacts/new');
    await expect(page.locator('.cm-content')).toBeVisible();
    await accessible(page, 'a new one');
  });
}

test('the largest workflow can be read, zoomed and scrolled, and German has room on a phone', async ({ page }) => {
  await enter(page);
  await page.goto('/artifacts?type=workflow');
  await page.getByRole('link', { name: 'assistant', exact: true }).click();
  await expect(page.locator('.node')).toHaveCount(142);
  await expect(page.locator('.flaws')).toHaveCount(0);
  const scale = page.locator('.zoom span');
  const before = await scale.innerText();
  await page.getByRole('button', { name: 'Larger' }).click();
  await expect(scale).not.toHaveText(before);
  await page.getByRole('button', { name: 'Whole width' }).click();
  const room = () => page.locator('.drawing').evaluate((box) => box.scrollWidth - box.clientWidth);
  await expect.poll(room).toBeLessThanOrEqual(1);
  await page.locator('.drawing').hover();
  await page.keyboard.down('Control');
  await page.mouse.wheel(0, -400);
  await page.keyboard.up('Control');
  await expect.poll(room).toBeGreaterThan(100);

  await page.setViewportSize({ width: 390, height: 800 });
  await page.getByRole('button', { name: 'Account' }).click();
  await page.getByRole('button', { name: 'DE, Deutsch' }).click();
  await page.keyboard.press('Escape');
  await page.getByRole('navigation', { name: 'Teile von Liminal' }).getByRole('link', { name: 'Artefakte' }).click();
  await expect(page.getByRole('heading', { name: 'Artefakte' })).toBeVisible();
  await expect(page.locator('.list tbody tr').first()).toBeVisible();
  expect(await headsInOneRow(page)).toBe(true);
  expect(await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth)).toBe(false);
  await accessible(page, 'German');
});
