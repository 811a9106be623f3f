import { defineConfig } from '@playwright/test';

// Started by TestBrowser (browser_test.go) with the address of the program in
// BASE_URL. By hand: npm run e2e, with a program at its usual address.
export default defineConfig({
  testDir: '.',
  outputDir: process.env['RESULTS'] ?? '../test-results', // it is emptied first
  workers: 1,
  // Only what hangs is to be caught: a machine that does other things meanwhile lets
  // anything stand still for seconds. Who waits for less is done sooner all the same.
  timeout: 240_000,
  expect: { timeout: 30_000 },
  forbidOnly: true,
  reporter: [['list']],
  use: {
    baseURL: process.env['BASE_URL'] ?? 'http://127.0.0.1:8080',
    viewport: { width: 1360, height: 860 },
    locale: 'en-GB',
    // Without its film, which takes an eighth of the processor time: what was
    // done and what the page held is there, and a picture of its end.
    trace: { mode: 'retain-on-failure', screenshots: false },
    screenshot: 'only-on-failure',
    launchOptions: {
      executablePath: process.env['CHROMIUM'] || '/usr/bin/chromium',
      args: [
        '--headless',
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
        // A microphone that beeps, for who asks for one.
        '--use-fake-device-for-media-stream',
        '--use-fake-ui-for-media-stream',
      ],
    },
  },
});
