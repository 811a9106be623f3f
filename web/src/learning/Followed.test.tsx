import { act } from 'react';
import { createRoot } from 'react-dom/client';
import { afterEach, expect, it, vi } from 'vitest';
import { setLanguage } from '../i18n/index.ts';
import Followed from './Followed.tsx';

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });

afterEach(() => vi.unstubAllGlobals());

it('names what an answer followed, each off in one press and on again in another', async () => {
  setLanguage('en');
  const asked: unknown[] = [];
  vi.stubGlobal('fetch', async (address: string, request: RequestInit) => {
    asked.push([address, JSON.parse(String(request.body))]);
    return Response.json({ status: 'ok', data: {}, request_id: '' });
  });
  const box = document.createElement('div');
  const root = createRoot(box);
  const lessons = ['1', '2', '3', '4', '5'].map((id) => ({ id, text: `Lesson ${id}.` }));
  act(() => root.render(<Followed lessons={lessons} />));
  expect([...box.querySelectorAll('.followed-text')].map((one) => one.textContent)).toEqual(['Lesson 1.', 'Lesson 2.', 'Lesson 3.']);
  expect([...box.querySelectorAll('a')].map((one) => [one.textContent, one.getAttribute('href')])).toEqual([
    ['Followed', '/settings/learning#lesson-1'],
    ['and 2 more', '/settings/learning'],
  ]);
  const press = () => act(async () => box.querySelectorAll('button')[1]!.click());
  await press();
  expect(box.querySelectorAll('li')[1]!.textContent).toBe('Lesson 2. switched offOn again');
  await press();
  expect(box.querySelectorAll('li')[1]!.textContent).toBe('Lesson 2. Off');
  expect(asked).toEqual([
    ['/v1/learning/lessons/2', { state: 'off' }],
    ['/v1/learning/lessons/2', { state: 'active' }],
  ]);
  act(() => root.unmount());
});
