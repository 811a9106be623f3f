import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';

const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).map((path) => join('src', path));

/** The style sheets that modules import, each as often as it is. */
const imported = files
  .filter((path) => /\.tsx?$/.test(path))
  .flatMap((path) => [...readFileSync(path, 'utf8').matchAll(/^import '(\..*\.css)';$/gm)].map(([, sheet]) => join(dirname(path), sheet!)));

// A second list would leave it to chance where in the cascade a sheet stands.
it('every style sheet is listed, and in one place', () => {
  expect(imported.toSorted()).toEqual(files.filter((path) => path.endsWith('.css')).toSorted());
});

// A name that is nowhere defined draws nothing, and says so nowhere.
it('every custom property that a sheet reads is defined', () => {
  const texts = files.filter((path) => /\.(css|tsx?)$/.test(path) && !path.includes('.test.')).map((path) => readFileSync(path, 'utf8'));
  const found = (pattern: RegExp) => new Set(texts.flatMap((text) => [...text.matchAll(pattern)].map((match) => match[1] ?? match[2]!)));
  const defined = found(/(--[a-z0-9-]+)['"]?\]?\s*:|['"](--[a-z0-9-]+)['"]/g);
  const read = found(/var\((--[a-z0-9-]+)/g);
  expect(read.size).toBeGreaterThan(20);
  expect([...read].filter((name) => !defined.has(name))).toEqual([]);
});
