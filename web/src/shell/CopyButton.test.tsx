import { act } from 'react';
import { createRoot } from 'react-dom/client';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { setLanguage } from '../i18n/index.ts';
import { CopyButton } from './CopyButton.tsx';

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });

beforeEach(() => setLanguage('en'));
afterEach(() => vi.unstubAllGlobals());

/** What the button says once it was pressed. */
async function pressed(clipboard: unknown): Promise<string> {
  vi.stubGlobal('navigator', { clipboard });
  const box = document.createElement('div');
  const root = createRoot(box);
  act(() => root.render(<CopyButton text="words" label="Copy" />));
  const button = box.querySelector('button')!;
  await act(async () => button.click());
  const said = button.textContent ?? '';
  act(() => root.unmount());
  return said;
}

it('says whether the words were copied', async () => {
  const writeText = vi.fn(async () => undefined);
  expect(await pressed({ writeText })).toBe('Copied');
  expect(writeText).toHaveBeenCalledWith('words');
  const refused = 'The browser does not allow copying here';
  expect(await pressed({ writeText: () => Promise.reject(new Error('NotAllowedError')) })).toBe(refused);
  expect(await pressed(undefined)).toBe(refused); // plain HTTP
});
