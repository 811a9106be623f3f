// What every browser test stands on: a person who has signed up, ways to do
// what people do, and a watch that fails the test when the page breaks the
// content policy or logs an error.

import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { test as base, expect, type Page } from '@playwright/test';

export { expect };

/** Faults a test provokes on purpose; everything else on the console fails it. */
interface Watch {
  expected: RegExp[];
}

export const test = base.extend<{ watch: Watch }>({
  watch: [
    async ({ page }, use) => {
      const faults: string[] = [];
      const watch: Watch = { expected: [] };
      page.on('pageerror', (error) => faults.push(`page error: ${error.message}`));
      page.on('console', (message) => {
        if (message.type() === 'error') faults.push(`console: ${message.text()}`);
      });
      await page.addInitScript(() => {
        document.addEventListener('securitypolicyviolation', (event) => {
          // The console carries it out of the page, to the watch.
          // oxlint-disable-next-line no-console
          console.error(`content policy: ${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`);
        });
      });
      await use(watch);
      expect(faults.filter((fault) => !watch.expected.some((known) => known.test(fault)))).toEqual([]);
    },
    { auto: true },
  ],
});

let people = 0;

/** Opens the program as somebody new. */
export async function enter(page: Page, address = '/'): Promise<string> {
  const email = `person${++people}.${Date.now()}@example.org`;
  await page.goto(address);
  const submit = page.locator('button[type=submit]');
  await expect(submit).toBeVisible();
  if ((await submit.textContent()) !== 'Create account') await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill('correct horse battery');
  await submit.click();
  await expect(box(page)).toBeVisible();
  return email;
}

/**
 * Gives the page no WebSocket, so that everything goes over HTTP: for tests
 * that stub or count its requests. Call it before the page says anything.
 */
export async function noSockets(page: Page): Promise<void> {
  const take = () => void Reflect.deleteProperty(window, 'WebSocket');
  await page.addInitScript(take);
  await page.evaluate(take);
}

export function box(page: Page) {
  return page.locator('#message');
}

/** What is written in the box: its lines are paragraphs, and a mention reads as @ and its name. */
export async function holds(page: Page, words: string): Promise<void> {
  const lines = () => box(page).evaluate((it) => [...it.children].map((line) => line.textContent).join('\n'));
  await expect.poll(lines).toBe(words);
}

export async function say(page: Page, words: string): Promise<void> {
  await box(page).fill(words);
  await box(page).press('Enter');
}

/** The last turn's answer, once it is complete. */
export async function answered(page: Page) {
  const turn = page.locator('.turn').last();
  await expect(turn.locator('.turn-foot')).toBeVisible();
  return turn;
}

const gate = join(process.env['CONTROL'] ?? '', 'go');

/** Has the model of TestBrowser's long script stop behind the eighth sentence of what it tells "bit by bit", until goOn(). */
export function holdBack(): void {
  rmSync(gate, { force: true });
}

export function goOn(): void {
  writeFileSync(gate, '');
}

/**
 * Words that do not stay. The page itself looks out for them: begun before what
 * brings them, it sees them though this process stands still meanwhile.
 */
export function passing(page: Page, words: string): Promise<unknown> {
  return page.waitForFunction((those) => document.body.textContent?.includes(those), words);
}

/** A measure of a page that moves, once it has come to rest. */
export async function atRest(measure: () => Promise<number>): Promise<number> {
  let last = Number.NaN;
  await expect(async () => {
    const before = last;
    last = await measure();
    expect(last).toBe(before);
  }).toPass({ intervals: [100] });
  return last;
}

/** The conversation that longConversation serves. */
export const long = '0197b0aa-0000-7000-8000-00000000000a';

/** A conversation of so many messages, served by the page's stand-in. */
export async function longConversation(page: Page, total: number, window?: number): Promise<void> {
  const text = 'The agreement sets a **notice period** of three months.\n\n| Clause | Period |\n| --- | --- |\n| 7.1 | three months |\n\n- The period begins with receipt.\n';
  const message = (seq: number) => ({
    id: `0197b0aa-0000-7000-8000-1${String(seq).padStart(11, '0')}`,
    role: seq % 2 === 1 ? 'user' : 'assistant',
    sender: seq % 2 === 1 ? 'user' : 'assistant',
    content: seq % 2 === 1 ? `Question ${(seq + 1) / 2}` : `${text}\nAnswer ${seq / 2}`,
    content_struct: null,
    seq,
    created_at: '2026-01-01T00:00:00Z',
    run_id: null,
    token_count_in: 0,
    token_count_out: 0,
    meta: {},
    versions: null,
    feedback: null,
  });
  await page.route(`**/v1/conversations/${long}/messages?*`, (route) => {
    const asked = new URL(route.request().url()).searchParams;
    const end = asked.has('before') ? Number(asked.get('before')) - 1 : total;
    const start = Math.max(1, end - (window ?? Number(asked.get('limit'))) + 1);
    const data = Array.from({ length: end - start + 1 }, (_, n) => message(start + n));
    const thread = { thread_id: long, data, next_cursor: null, earlier_cursor: start > 1 ? String(start) : null, pending_interrupt: null, pending_interrupts: [], active_run: null };
    return route.fulfill({ json: { status: 'ok', data: thread } });
  });
}

export async function upload(page: Page, name: string, text: string): Promise<void> {
  await page.locator('.tools input[type=file]').setInputFiles({ name, mimeType: 'text/markdown', buffer: Buffer.from(text) });
}

type Node = Record<string, unknown>;

/** Makes a workflow of one's own and chooses it for the turns to come. */
export async function workflow(page: Page, name: string, nodes: Node[]): Promise<void> {
  const token = await page.evaluate(() => sessionStorage.getItem('liminal.token'));
  const unique = `${name}_${Date.now()}`;
  const schema = { kind: 'workflow.chat', entrypoint: nodes[0]!['id'], nodes };
  const made = await page.request.post(new URL('/v1/artifacts', page.url()).href, {
    headers: { Authorization: `Bearer ${token}` },
    data: { type: 'workflow.chat', name: unique, schema },
  });
  expect(made.ok(), await made.text()).toBe(true);
  await page.reload();
  await page.getByLabel('Workflow', { exact: true }).selectOption({ label: unique });
}

export const options = {
  documents: [
    { id: 'd1', label: 'BankNegara2024' },
    { id: 'd2', label: 'Deriv2024' },
    { id: 'all', label: 'All of these' },
  ],
  actions: [
    { id: 'audit', label: 'Audit' },
    { id: 'summarize', label: 'Summarize' },
  ],
};

export const which: Node = {
  id: 'which',
  type: 'interrupt',
  interrupt_type: 'doc_choice',
  message: 'Two regulations match. Which one should I audit against?',
  options: options.documents,
  save_as: 'choice',
  next: 'what',
};

export const what: Node = {
  id: 'what',
  type: 'interrupt',
  interrupt_type: 'action_choice',
  message: 'And what should I do with it?',
  options: options.actions,
  save_as: 'action',
  next: 'done',
};

export const retention = `# Retention

Records shall be retained for seven years after the relationship with the customer ends.

# Legal basis

The controller states the legal basis of every transfer before the transfer happens.
`;

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Runs axe through the debugger, so that the content policy stays as strict as it ships. */
export async function accessible(page: Page, where: string): Promise<void> {
  await page.evaluate(axeSource);
  // Colours are measured at rest: a transition half way is nobody's choice. One that is
  // cut short, as where what moved goes away, is at rest too.
  await page.evaluate(() => Promise.all(document.getAnimations().map((one) => (one.effect?.getTiming().iterations === Infinity ? null : one.finished.catch(() => null)))));
  const violations = await page.evaluate(async () => {
    const { axe } = window as unknown as { axe: { run(root: Document, options: object): Promise<{ violations: { id: string; nodes: { html: string; failureSummary: string }[] }[] }> } };
    const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
    const found = await axe.run(document, { runOnly: { type: 'tag', values: tags } });
    return found.violations.map((one) => ({ rule: one.id, nodes: one.nodes.map((node) => `${node.html.slice(0, 160)} – ${node.failureSummary}`) }));
  });
  expect(violations, where).toEqual([]);
}
