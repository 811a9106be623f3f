// Writes dist/sources.sha256: one hash over everything the build was made
// from. web_test.go computes the same hash in Go, so a dist that was not
// rebuilt fails `go test` on a machine without Node.
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const roots = ['src', 'public'];
const singles = ['index.html', 'package.json', 'package-lock.json', 'stamp.mjs', 'tsconfig.json', 'vite.config.ts'];

function walk(dir) {
  return readdirSync(dir, { withFileTypes: true }).flatMap((entry) => {
    const path = join(dir, entry.name);
    return entry.isDirectory() ? walk(path) : [path];
  });
}

const test = /\.test\.tsx?$/; // not part of the build
const files = [...roots.flatMap(walk).filter((path) => !test.test(path)), ...singles].map((path) => path.split('\\').join('/')).toSorted();
const all = createHash('sha256');
for (const path of files) {
  const one = createHash('sha256').update(readFileSync(path)).digest('hex');
  all.update(`${one}  ${path}\n`);
}
writeFileSync('dist/sources.sha256', `${all.digest('hex')}\n`);
