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
