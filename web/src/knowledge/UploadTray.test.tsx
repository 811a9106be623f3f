import { act } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { RunEvent } from '../api/types.ts';
import { setLanguage } from '../i18n/index.ts';
import { nothingLeftOut } from './found.ts';
import { UploadTray } from './UploadTray.tsx';
import { leftOut, onProgress, uploads, type Upload } from './uploads.ts';

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });

const box = document.createElement('div');
let root: Root;

function rows(...phases: Upload['phase'][]): Upload[] {
  return phases.map((phase, n) => ({ id: String(n), name: `${n}.md`, phase, done: 0, total: 0, passages: 0, problem: phase === 'failed' ? 'No text.' : '', mayRetry: n % 2 === 0 }));
}

function show(...phases: Upload['phase'][]): string[] {
  act(() => uploads.set(rows(...phases)));
  return lines();
}

const lines = () => [...box.querySelectorAll('li')].map((one) => `${one.dataset['phase']}: ${one.textContent}`);
const press = (label: string) => act(() => [...box.querySelectorAll('button')].find((one) => [one.getAttribute('aria-label'), one.textContent].includes(label))!.click());

beforeEach(() => {
  setLanguage('en');
  root = createRoot(box);
  act(() => root.render(<UploadTray />));
});
afterEach(() => {
  act(() => root.unmount());
  uploads.set([]);
  leftOut.set(null);
});

// Requirements: FILE-09
it('has a row for each of a few files, and one line for many', () => {
  expect(show('waiting', 'reading', 'ready', 'failed')).toHaveLength(4);
  expect(show('waiting', 'sending', 'reading', 'ready', 'ready')).toEqual(['reading: 2 of 5 files are read · 2 still to send: keep this page openShow files']);
  expect(['value', 'max'].map((name) => box.querySelector('progress')!.getAttribute(name))).toEqual(['2', '5']);
  press('Show files');
  expect(lines()).toHaveLength(6);
  press('Hide files');
  expect(show('ready', 'ready', 'ready', 'ready', 'ready')).toEqual(['ready: 5 files are ready.']);
});

it('says that the reader of PDF files is made ready, and then how far it is', () => {
  show('reading');
  const told = (data: object) => act(() => onProgress(uploads.get()[0]!.id, { kind: 'progress', data } as RunEvent));
  told({ message: 'Preparing…', preparing: true });
  expect(lines()[0]).toContain('Preparing the PDF reader…');
  told({ message: 'Reading…' });
  expect(lines()[0]).toContain('Reading…');
  told({ message: 'Reading…', done: 20, total: 40 });
  expect(lines()[0]).toContain('Reading 20 of 40');
});

it('has one line for many that failed, which all go at once', () => {
  expect(show('failed', 'failed', 'failed', 'failed', 'failed', 'ready')).toEqual(['ready: 5.mdReady', 'failed: 5 files could not be added. No text.Try againShow files']);
  press('Dismiss all');
  expect(lines()).toEqual(['ready: 5.mdReady']);
});

it('stops what is under way when all of it is dismissed', () => {
  show('waiting', 'sending', 'reading', 'ready', 'ready', 'failed');
  press('Stop sending and dismiss all');
  expect(uploads.get().map((one) => one.phase)).toEqual(['failed']);
});

it('says which version a file replaced, and that it stays where the new one cannot be read', () => {
  const [ready, failed] = rows('ready', 'failed');
  const replaces = new Date(new Date().setHours(12, 4)).toISOString();
  act(() => uploads.set([{ ...ready!, passages: 2, replaces }, { ...failed!, replaces }]));
  const time = new Date(replaces).toLocaleTimeString('en', { hour: 'numeric', minute: '2-digit' });
  expect(lines()).toEqual([`ready: 0.mdReady · 2 passages · replaced the version of ${time}`, `failed: 1.mdNo text. The version of ${time} stays in use.`]);
});

it('says in one line what of a folder was left out', () => {
  act(() => leftOut.set({ ...nothingLeftOut, unsupported: 12, hidden: 1, beyond: true }));
  expect(lines()).toEqual(['left: Left out of the folder: 12 files of kinds that cannot be read, 1 hidden, what is beyond the first 10,000 files.']);
  press('Dismiss');
  expect(lines()).toEqual([]);
});
