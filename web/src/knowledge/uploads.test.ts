import { afterEach, expect, it, vi } from 'vitest';

const upload = vi.hoisted(() => vi.fn());
vi.mock('../api/ask.ts', () => ({ ask: async () => ({ max_bytes: 1_000, extensions: ['.md'], id: 'd', status: 'ready', chunks: 1 }) }));
vi.mock('../api/upload.ts', async (original) => ({ ...(await original<object>()), upload }));

const { addFiles, dismiss, forgetUploads, uploads } = await import('./uploads.ts');

const named = (name: string) => new File(['words'], name);
const sent = () => upload.mock.calls.map(([file]) => (file as File).name);

afterEach(() => {
  forgetUploads();
  upload.mockReset();
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
