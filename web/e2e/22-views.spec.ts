// The main views as people meet them: in light and dark, on a desk and on a
// phone. Each is looked through by axe, none is wider than its screen, and each
// looks like its picture in views/ (picture.ts says how that is compared, and
// why so). A view is a row of the table.
//
// New pictures, after a look at what has changed:
//   VIEWS=update go test -count=1 ./web/e2e -run 'TestBrowser/22-views'

import type { Page, TestInfo } from '@playwright/test';
import { ask, asAdministrator, longWay, propose, publish, turns } from './change.ts';
import { looksLike } from './picture.ts';
import { accessible, answered, box, expect, retention, say, test, upload, which } from './stage.ts';

/** What the views show. It is made once, by whichever test comes first. */
interface Scene {
  conversation: string;
  question: string;
  context: string;
  artifact: string;
  patch: number;
  run: string;
}

interface View {
  name: string;
  address(scene: Scene): string;
  /** What is there once the view is whole. */
  whole(page: Page): Promise<void>;
}

const see = (selector: string) => (page: Page) => expect(page.locator(selector).first()).toBeVisible();
const heading = (name: string | RegExp) => (page: Page) => expect(page.getByRole('heading', { level: 1, name })).toBeVisible();

const views: View[] = [
  { name: 'new', address: () => '/', whole: (page) => expect(page.getByRole('heading', { name: 'For example' })).toBeVisible() },
  { name: 'conversation', address: (scene) => `/c/${scene.conversation}`, whole: see('button.cite') },
  {
    name: 'passage',
    address: (scene) => `/c/${scene.conversation}`,
    whole: async (page) => {
      await page.locator('button.cite').first().click();
      await see('mark')(page);
      await expect(page.getByRole('button', { name: 'Download' })).toBeVisible(); // comes once the file is known
    },
  },
  { name: 'question', address: (scene) => `/c/${scene.question}`, whole: (page) => expect(page.getByRole('region', { name: 'Needs your answer' })).toBeVisible() },
  { name: 'contexts', address: () => '/contexts', whole: heading('Contexts') },
  { name: 'context', address: (scene) => `/contexts/${scene.context}`, whole: (page) => expect(page.getByText('retention.md').first()).toBeVisible() },
  { name: 'artifacts', address: () => '/artifacts', whole: see('.table tbody tr, .artifact-list li, tbody tr') },
  { name: 'artifact', address: (scene) => `/artifacts/${scene.artifact}`, whole: see('.picture') },
  { name: 'decisions', address: () => '/operate', whole: see('.rows li') },
  { name: 'patch', address: (scene) => `/operate/patches/${scene.patch}`, whole: (page) => expect(page.locator('.decision')).toContainText('waits for a decision') },
  { name: 'runs', address: () => '/operate/runs', whole: see('.rows li') },
  { name: 'run', address: (scene) => `/operate/runs/${scene.run}`, whole: see('.trace') },
  { name: 'usage', address: () => '/operate/usage', whole: see('.plot-bar') },
  { name: 'people', address: () => '/operate/people?q=admin%40', whole: see('table.people tbody tr') },
  { name: 'plans', address: () => '/operate/plans', whole: see('table.plans tbody tr') },
  { name: 'settings', address: () => '/settings', whole: heading('Settings') },
  { name: 'learning', address: () => '/settings/learning', whole: see('.learning .lead') },
  { name: 'docs', address: () => '/docs', whole: heading('API reference') },
];

const shapes = [
  { name: 'desk', size: { width: 1360, height: 860 }, shrink: 5 },
  { name: 'phone', size: { width: 390, height: 800 }, shrink: 3 },
];
const themes = ['light', 'dark'] as const;

for (const shape of shapes) {
  // Requirements: UI-02 (single column below 640 px)
  test(`every main view is for everybody and looks as it did, light and dark: ${shape.name}`, async ({ page }, info) => {
    test.setTimeout(500_000);
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await asAdministrator(page);
    const scene = await made(page);
    await page.setViewportSize(shape.size);
    for (const view of views) {
      await test.step(view.name, async () => {
        await page.goto(view.address(scene));
        await view.whole(page);
        await expect(page.locator('.skeleton')).toHaveCount(0);
        await page.evaluate(() => document.fonts.ready.then(() => undefined));
        for (const theme of themes) await look(page, view.name, shape, theme, info);
      });
    }
  });
}

async function look(page: Page, view: string, shape: (typeof shapes)[number], theme: 'light' | 'dark', info: TestInfo): Promise<void> {
  await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
  const name = `${view}-${shape.name}-${theme}`;
  await looksLike(page, name, shape.shrink, info);
  const beyond = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  expect.soft(beyond, `${name} is wider than the screen, in pixels`).toBeLessThanOrEqual(0);
  // One view that is not for everybody hides none of the others.
  const wrong = await accessible(page, name).then(
    () => '',
    (error: Error) => error.message,
  );
  expect.soft(wrong, `${name} is for everybody`).toBe('');
}

const cited = 'How many years shall records be retained?';
const asked = 'Check this letter';

/** Makes what the views show, unless it is there. */
async function made(page: Page): Promise<Scene> {
  const titled = async (title: string) => (await ask<{ id: string; title: string }[]>(page, 'GET', '/v1/conversations')).find((one) => one.title === title)?.id;
  if (!(await titled(asked))) await make(page);
  const patch = (await ask<{ id: number }[]>(page, 'GET', '/v1/config/patches?status=pending'))[0]!;
  const run = (await ask<{ id: string }[]>(page, 'GET', '/v1/runs?kind=chat&status=done'))[0]!;
  const artifact = (await ask<{ id: string; name: string }[]>(page, 'GET', '/v1/artifacts?type=workflow.chat&limit=100')).find((one) => one.name.startsWith('greeting'))!;
  const context = (await ask<{ id: string }[]>(page, 'GET', '/v1/contexts'))[0]!;
  return { conversation: (await titled(cited))!, question: (await titled(asked))!, context: context.id, artifact: artifact.id, patch: patch.id, run: run.id };
}

async function make(page: Page): Promise<void> {
  await expect(box(page)).toBeVisible();
  await upload(page, 'retention.md', retention);
  await expect(page.getByText(/Ready/)).toBeVisible();
  await say(page, cited);
  await answered(page);
  const artifact = await publish(page, 'greeting');
  await turns(page, artifact, 'hello', 2);
  await propose(page, artifact, longWay, 'People who ask for the long way should be given it.');
  const schema = { kind: 'workflow.chat', entrypoint: 'which', nodes: [{ ...which, next: 'done' }, { id: 'done', type: 'end', response: 'Thank you.' }] };
  const asking = await ask<{ id: string }>(page, 'POST', '/v1/artifacts', { type: 'workflow.chat', name: 'asks', schema });
  const { run_id } = await ask<{ run_id: string }>(page, 'POST', '/v1/chat', { message: asked, workflow_id: asking.id });
  await expect.poll(async () => (await ask<{ run: { status: string } }>(page, 'GET', `/v1/runs/${run_id}`)).run.status).toBe('waiting');
}
