// How soon the chat page is there for somebody who comes for the first time, on
// a machine a quarter as quick. The figure is noted with every run; the bound
// leaves room for a build machine that has other things to do.
//
// Alone: it is about how soon a page is there.

import { box, enter, expect, test } from './stage.ts';

const slowdown = 4;
const bound = 2_000; // ms; without other load it is under 1,000

test('the chat page is painted soon, cold and on a slow machine', async ({ page }) => {
  test.setTimeout(90_000);
  await enter(page);
  const browser = await page.context().newCDPSession(page);
  await browser.send('Network.setCacheDisabled', { cacheDisabled: true });
  await browser.send('Emulation.setCPUThrottlingRate', { rate: slowdown });
  const paints: { blank: number; content: number }[] = [];
  for (let n = 0; n < 3; n++) {
    await page.reload();
    await expect(box(page)).toBeVisible();
    paints.push(
      await page.evaluate(() => {
        const at = (name: string) => performance.getEntriesByName(name)[0]?.startTime ?? Infinity;
        return { blank: at('first-paint'), content: at('first-contentful-paint') };
      }),
    );
  }
  const told = paints.map((one) => `${one.blank.toFixed(0)}/${one.content.toFixed(0)}`).join(', ');
  test.info().annotations.push({ type: 'figure', description: `first paint and first content, ms: ${told}` });
  // What else runs only ever adds.
  expect(Math.min(...paints.map((one) => one.content)), told).toBeLessThan(bound);
});
