import { expect, it } from 'vitest';
import { gather, hidden, namesOf } from './found.ts';

/** A tree as a browser tells of it: names that end with a slash are folders, given two at a time. */
interface Tree {
  [name: string]: Tree | string | Error;
}

function entry(name: string, what: Tree | string | Error): FileSystemEntry {
  if (typeof what === 'string' || what instanceof Error) {
    const file = (resolve: (file: File) => void, reject: (error: Error) => void) => (what instanceof Error ? reject(what) : resolve(new File([what], name)));
    return { name, isFile: true, isDirectory: false, file } as unknown as FileSystemEntry;
  }
  const createReader = () => {
    const left = Object.entries(what).map(([child, below]) => entry(child, below));
    return { readEntries: (resolve: (batch: FileSystemEntry[]) => void) => resolve(left.splice(0, 2)) };
  };
  return { name, isFile: false, isDirectory: true, createReader } as unknown as FileSystemEntry;
}

function drop(tree: Tree): Pick<DataTransfer, 'items' | 'files'> {
  const items = Object.entries(tree).map(([name, what]) => ({ kind: 'file', webkitGetAsEntry: () => entry(name, what), getAsFile: () => null }));
  return { items: items as unknown as DataTransferItemList, files: [] as unknown as FileList };
}

// Requirements: FILE-09
it('finds all files of a dropped folder, however deep they lie, and no hidden ones', async () => {
  const tree = { 'single.md': 'x', notes: { a: { b: { 'deep.md': 'x' }, 'one.md': 'x', 'two.md': 'x', 'three.md': 'x' }, '.git': { config: 'x' }, '.env': 'x', 'locked.md': new Error('no') } };
  const { files, leftOut } = await gather(drop(tree));
  expect(files.map((one) => one.path)).toEqual(['single.md', 'notes/a/b/deep.md', 'notes/a/one.md', 'notes/a/two.md', 'notes/a/three.md']);
  expect(leftOut).toEqual({ hidden: 2, unsupported: 0, empty: 0, unreadable: 1, beyond: false });
});

it('takes a folder that is hidden itself when it was meant', async () => {
  const { files } = await gather(drop({ '.notes': { 'a.md': 'x' } }));
  expect(files.filter((one) => !hidden(one)).map((one) => one.path)).toEqual(['.notes/a.md']);
});

it('comes back from a folder that leads back to itself', async () => {
  const round: Tree = { 'a.md': 'x' };
  round['again'] = round;
  const { files, leftOut } = await gather(drop({ round }));
  expect(files.length).toBeLessThan(50);
  expect(leftOut.beyond).toBe(true);
});

it('takes what is no entry of a file system as it is', async () => {
  const file = new File(['x'], 'made.md');
  const items = [{ kind: 'file', webkitGetAsEntry: () => null, getAsFile: () => file }, { kind: 'string', webkitGetAsEntry: () => null, getAsFile: () => null }];
  const { files } = await gather({ items: items as unknown as DataTransferItemList, files: [] as unknown as FileList });
  expect(files).toEqual([{ file, path: 'made.md' }]);
});

it.each([
  ['their own where they differ', ['doc/apt/NEWS.md', 'doc/README.md'], ['NEWS.md', 'README.md']],
  ['with their folders where they do not', ['doc/apt/README.md', 'doc/bash/README.md', 'doc/a.md'], ['apt - README.md', 'bash - README.md', 'a.md']],
  ['with the outermost too where there are several', ['apt/README.md', 'bash/README.md'], ['apt - README.md', 'bash - README.md']],
  ['of files by themselves', ['a.md', 'b.md'], ['a.md', 'b.md']],
])('names are %s', (_, paths, names) => {
  expect(namesOf(paths)).toEqual(names);
});
