import { act } from 'react';
import { createRoot } from 'react-dom/client';
import { afterEach, expect, it, vi } from 'vitest';
import { setLanguage } from '../i18n/index.ts';
import { StopButton } from './Composer.tsx';

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });

afterEach(() => setLanguage('en'));

// Requirements: GRND-37 (stop)
it.each([
  ['en', 'Stop', 'Stopping…'],
  ['de', 'Anhalten', 'Wird angehalten…'],
] as const)('the button that stops a run says so in the reader’s language: %s', (locale, stop, stopping) => {
  setLanguage(locale);
  const halt = vi.fn(() => new Promise<void>(() => {}));
  const box = document.createElement('div');
  const root = createRoot(box);
  act(() => root.render(<StopButton stop={halt} />));
  const button = box.querySelector('button')!;
  expect(button.getAttribute('aria-label')).toBe(stop);
  act(() => button.click());
  expect(halt).toHaveBeenCalledOnce();
  expect(button.getAttribute('aria-label')).toBe(stopping);
  act(() => root.unmount());
});
