import type { Dictionary } from '../i18n/en.ts';

// The first that matches counts: browsers carry each other's names.
const browsers: [RegExp, string][] = [
  [/\bEdgA?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(Firefox|FxiOS)\//, 'Firefox'],
  [/\b(HeadlessChrome|Chrome|CriOS|Chromium)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
];
const systems: [RegExp, string][] = [
  [/iPhone|iPad|iPod/, 'iOS'],
  [/Android/, 'Android'],
  [/Windows/, 'Windows'],
  [/Mac OS X|Macintosh/, 'macOS'],
  [/CrOS/, 'ChromeOS'],
  [/Linux|X11/, 'Linux'],
];

/** What a person would call the device of a sign-in. */
export function deviceName(agent: string, words: Dictionary): string {
  const find = (list: [RegExp, string][]) => list.find(([form]) => form.test(agent))?.[1];
  const [browser, system] = [find(browsers), find(systems)];
  if (browser && system) return words.browserOn(browser, system);
  // A program names itself first, as in curl/8.5.0.
  return browser ?? system ?? (agent.split(/[\s/(]/, 1)[0] || words.someDevice);
}
