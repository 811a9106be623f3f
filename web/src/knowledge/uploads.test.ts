import { afterEach, expect, it, vi } from 'vitest';
import { Failure } from '../api/failure.ts';
import type { Document } from '../api/types.ts';

const upload = vi.hoisted(() => vi.fn());
const asked = vi.hoisted(() => vi.fn());
vi.mock('../api/ask.ts', () => ({ ask: asked }));
vi.mock('../api/upload.ts', async (original) => ({ ...(await original<object>()), upload }));
const follow = vi.hoisted(() => vi.fn());
vi.mock('../api/follow.ts', () => ({ follow }));

const { addFiles, addGathered, dismiss, dismissReady, forgetUploads, leftOut, retry, uploads } = await import('./uploads.ts');
const { nothingLeftOut } = await import('./found.ts');

const named = (name: string) => new File(['words'], name);
const within = (...paths: string[]) => ({ files: paths.map((path) => ({ file: named(path.split('/').at(-1)!), path })), leftOut: { ...nothingLeftOut } });
const sent = () => upload.mock.calls.map(([file]) => (file as File).name);
const phases = () => uploads.get().map((one) => one.phase);

/** The server: what may be sent, and documents that are read at once. */
function answer(op: string, { path }: { path?: { id: string } } = {}): unknown {
  if (op === 'fileLimits') return { max_bytes: 1_000, extensions: ['.md'] };
  if (op === 'document') return { id: path?.id, context_id: 'k', status: 'ready', chunks: 1 };
  return { data: [], next_cursor: null };
}

asked.mockImplementation(async (op: string, asking?: object) => answer(op, asking));

afterEach(() => {
  forgetUploads();
  upload.mockReset();
  follow.mockReset();
  asked.mockReset().mockImplementation(async (op: string, asking?: object) => answer(op, asking));
  vi.useRealTimers();
});

// Requirements: UI-08
it('sends no file that was taken away while it waited for the one before', async () => {
  upload.mockImplementation(async (file: File) => {
    if (file.name === 'a.md') dismiss(uploads.get().find((one) => one.name === 'b.md')!.id);
    return { run_id: null, document: null };
  });
  await addFiles([named('a.md'), named('b.md'), named('c.md')], 'k');
  expect(sent()).toEqual(['a.md', 'c.md']);
});

// Requirements: UI-17
it('sends nothing more once its person has left', async () => {
  upload.mockImplementation(async () => {
    forgetUploads();
    return { run_id: null, document: null };
  });
  await addFiles([named('a.md'), named('b.md')], 'k');
  expect([sent(), uploads.get()]).toEqual([['a.md'], []]);
});

// Requirements: FILE-08, API-16
it('waits as long as the server says, and goes on until all are sent', async () => {
  vi.useFakeTimers();
  let room = 2;
  upload.mockImplementation(async () => {
    if (room-- > 0) return { run_id: null, document: null };
    room = 2;
    throw new Failure(429, 'rate_limited', 'Later.', undefined, 6);
  });
  const names = Array.from({ length: 7 }, (_, n) => `${n}.md`);
  const all = addFiles(names.map(named), 'k');
  await vi.advanceTimersByTimeAsync(5_900);
  expect(phases()).toEqual(['ready', 'ready', 'waiting', 'waiting', 'waiting', 'waiting', 'waiting']);
  await vi.advanceTimersByTimeAsync(13_000);
  await all;
  expect(phases()).toEqual(names.map(() => 'ready'));
  expect(sent()).toEqual(['0.md', '1.md', '2.md', '2.md', '3.md', '4.md', '4.md', '5.md', '6.md', '6.md']);
});

// Requirements: FILE-09
it('leaves out of a folder what cannot be read, and says so once', async () => {
  upload.mockResolvedValue({ run_id: null, document: null });
  const folder = within('doc/a.md', 'doc/b.png', 'doc/c.gz', 'doc/.git/config.md', 'doc/x/a.md');
  folder.files.push({ file: new File([], 'empty.md'), path: 'doc/empty.md' });
  await addGathered(folder, 'k');
  expect(uploads.get().map((one) => [one.name, one.phase])).toEqual([['doc/a.md', 'ready'], ['doc/x/a.md', 'ready']]);
  expect(leftOut.get()).toEqual({ ...nothingLeftOut, unsupported: 2, hidden: 1, empty: 1 });
  expect(upload.mock.calls.map(([, to]) => (to as { name: string }).name)).toEqual(['a.md', 'x - a.md']);
  await addFiles([named('by-itself.png')], 'k');
  expect(uploads.get().at(-1)).toMatchObject({ name: 'by-itself.png', phase: 'failed', mayRetry: false });
});

it('does not try the rest where there is no room, and all of it again when asked to', async () => {
  upload.mockRejectedValueOnce(new Failure(409, 'conflict', 'Delete some files first.', { reason: 'storage' }));
  await addFiles([named('a.md'), named('b.md'), named('c.md')], 'k');
  expect([sent(), uploads.get().map((one) => one.problem)]).toEqual([['a.md'], Array(3).fill('Delete some files first.')]);
  upload.mockResolvedValue({ run_id: null, document: null });
  await retry();
  expect([sent(), phases()]).toEqual([['a.md', 'a.md', 'b.md', 'c.md'], ['ready', 'ready', 'ready']]);
});

it('goes on after a file that is at fault itself', async () => {
  upload.mockRejectedValueOnce(new Failure(400, 'validation_error', 'No PDF.')).mockResolvedValue({ run_id: null, document: null });
  await addFiles([named('a.md'), named('b.md')], 'k');
  await retry();
  expect([phases(), sent()]).toEqual([['failed', 'ready'], ['a.md', 'b.md']]);
});

it('asks for many documents together, and for the end of each only once it is there', async () => {
  vi.useFakeTimers();
  const documents = new Map<string, Partial<Document>>();
  upload.mockImplementation(async (file: File) => {
    const document = { id: file.name, context_id: 'k', status: 'waiting', chunks: 0 } as Partial<Document>;
    documents.set(file.name, document);
    return { run_id: `run of ${file.name}`, document };
  });
  asked.mockImplementation(async (op: string, asking?: { path?: { id: string } }) => {
    if (op === 'listDocuments') return { data: [...documents.values()], next_cursor: null };
    if (op === 'document') return documents.get(asking!.path!.id);
    return answer(op);
  });
  await addFiles(Array.from({ length: 50 }, (_, n) => named(`${n}.md`)), 'k');
  await vi.advanceTimersByTimeAsync(10_000);
  expect(new Set(phases())).toEqual(new Set(['reading']));
  expect(asked.mock.calls.length).toBeLessThan(50); // in ten seconds, for fifty files
  for (const document of documents.values()) Object.assign(document, { status: document.id === '7.md' ? 'failed' : 'ready', error: 'Not text.' });
  await vi.advanceTimersByTimeAsync(2_000);
  expect(phases().filter((one) => one === 'ready')).toHaveLength(49);
  expect(uploads.get()[7]).toMatchObject({ phase: 'failed', problem: 'Not text.', mayRetry: true });
});

it('finds out that a document is read though its run never says so, and reads along no longer', async () => {
  vi.useFakeTimers();
  upload.mockResolvedValue({ run_id: 'r', document: { id: 'd', context_id: 'k', status: 'waiting' } });
  follow.mockImplementation(() => new Promise(() => undefined));
  await addFiles([named('a.md')], 'k');
  await vi.advanceTimersByTimeAsync(4_000);
  expect(phases()).toEqual(['reading']);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(phases()).toEqual(['ready']);
  expect((follow.mock.calls[0]![1] as { signal: AbortSignal }).signal.aborted).toBe(true);
});

it('bears with a server that is away while documents are read', async () => {
  vi.useFakeTimers();
  upload.mockResolvedValue({ run_id: null, document: { id: 'd', context_id: 'k', status: 'waiting' } });
  let away = 3;
  asked.mockImplementation(async (op: string, asking?: object) => {
    if (op === 'document' && away-- > 0) throw new Failure(0, 'unreachable', '');
    return answer(op, asking);
  });
  await addFiles([named('a.md')], 'k');
  await vi.advanceTimersByTimeAsync(20_000);
  expect(phases()).toEqual(['ready']);
});

it('keeps counting those that are ready while many are under way', async () => {
  upload.mockImplementation(async (file: File) => {
    if (file.name === '5.md') dismissReady();
    return { run_id: null, document: null };
  });
  await addFiles(Array.from({ length: 8 }, (_, n) => named(`${n}.md`)), 'k');
  expect(uploads.get()).toHaveLength(8);
  dismissReady();
  expect(uploads.get()).toHaveLength(0);
});

// Requirements: FILE-01, FILE-04
it('says where a file of a folder lies, and that text in an image is not read', async () => {
  upload.mockResolvedValue({ run_id: null, document: null, replaces: { document_id: 'd', title: 'A', created_at: '2026-11-20T12:04:00Z' } });
  await addGathered(within('notes/a.md', 'notes/b.png'), 'k');
  expect(upload.mock.calls.map(([, to]) => (to as { origin?: string }).origin)).toEqual(['notes/a.md']);
  expect(uploads.get()).toMatchObject([{ phase: 'ready', replaces: '2026-11-20T12:04:00Z' }]);
  forgetUploads();
  await addFiles([named('a.md'), named('Scan.JPG')], 'k');
  expect(upload.mock.calls.map(([, to]) => (to as { origin?: string }).origin)).toEqual(['notes/a.md', undefined]);
  expect(uploads.get()[1]!.problem).toContain('text in images is not recognised');
});
