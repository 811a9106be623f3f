// What the specs about changes and runs stand on: an administrator, people of
// another role, and a workflow of everybody's to change.

import { expect, type Browser, type Page } from '@playwright/test';
import { inside, knock, password } from './account.ts';
import { answered, say } from './stage.ts';

const administrator = 'admin@example.org';

/** Opens the program as the administrator: the first account there is. */
export async function asAdministrator(page: Page): Promise<void> {
  await come(page, administrator);
}

/** Opens the program in a browser of its own, as somebody of a role. The administrator's page gives the role. */
export async function alsoAs(browser: Browser, admin: Page, role: 'power' | 'admin' | 'user', name: string): Promise<Page> {
  const page = await (await browser.newContext()).newPage();
  const email = `${name}.${Date.now()}@example.org`;
  await signUp(page, email);
  if (role !== 'user') {
    const found = await ask<{ id: string }[]>(admin, 'GET', `/v1/users?email=${encodeURIComponent(email)}`);
    await ask(admin, 'PATCH', `/v1/users/${found[0]!.id}`, { role });
  }
  await come(page, email);
  return page;
}

async function signUp(page: Page, email: string): Promise<void> {
  const made = await page.request.post('/v1/auth/signup', { data: { email, password } });
  expect([200, 201, 409], await made.text()).toContain(made.status());
  await page.context().clearCookies();
}

async function come(page: Page, email: string): Promise<void> {
  await signUp(page, email);
  await page.goto('/');
  await knock(page, email);
  await inside(page);
}

/** What a program would ask in this person's name. */
export async function ask<T>(page: Page, method: string, path: string, data?: unknown): Promise<T> {
  const token = await page.evaluate(() => sessionStorage.getItem('liminal.token'));
  const headers = { Authorization: `Bearer ${token}` };
  const response = await page.request.fetch(path, { method, headers, ...(data === undefined ? {} : { data }) });
  expect(response.ok(), await response.text()).toBe(true);
  const { data: given } = (await response.json()) as { data: T | { data: T } };
  return given && typeof given === 'object' && 'data' in given ? given.data : given;
}

export interface Made {
  id: string;
  name: string;
}

const short = { id: 'short', type: 'end', response: 'The short way.' };
const long = { id: 'long', type: 'end', response: 'The long way.' };

/** A workflow of everybody's that always goes the short way. */
export async function publish(page: Page, name: string): Promise<Made> {
  const unique = `${name}_${Date.now()}`;
  // With a title, so that everybody is offered it.
  const schema = { kind: 'workflow.chat', title: unique, entrypoint: 'route', nodes: [{ id: 'route', type: 'switch', branches: [{ when: 'true', next: 'short' }] }, short] };
  const { id } = await ask<{ id: string }>(page, 'POST', '/v1/artifacts', { type: 'workflow.chat', name: unique, visibility: 'global', schema });
  return { id, name: unique };
}

/** The change the specs propose: who asks for the long way is given it. */
export const longWay = [
  { op: 'add', path: '/nodes/0/branches/0', value: { when: "input.message == 'long please'", next: 'long' } },
  { op: 'add', path: '/nodes/-', value: long },
];

export async function propose(page: Page, artifact: Made, patch: object[], justification: string): Promise<number> {
  return (await ask<{ id: number }>(page, 'POST', '/v1/config/patches', { artifact_id: artifact.id, patch, justification })).id;
}

/** Says something in a new conversation that follows a workflow, and gives the answer's turn. */
export async function tell(page: Page, artifact: Made, words: string) {
  await page.goto('/');
  await page.getByLabel('Workflow', { exact: true }).selectOption({ label: artifact.name });
  await say(page, words);
  return answered(page);
}

/** Turns that follow a workflow, without a page; they are over when it returns. */
export async function turns(page: Page, artifact: Made, words: string, times: number): Promise<void> {
  for (let n = 0; n < times; n++) {
    const { run_id } = await ask<{ run_id: string }>(page, 'POST', '/v1/chat', { message: words, workflow_id: artifact.id });
    await expect.poll(async () => (await ask<{ run: { status: string } }>(page, 'GET', `/v1/runs/${run_id}`)).run.status).toBe('done');
  }
}

export const decision = (page: Page) => page.locator('.decision');
