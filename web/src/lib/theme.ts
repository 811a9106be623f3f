import { createStore } from './store.ts';
import { readItem, writeItem } from './storage.ts';

export type Theme = 'system' | 'light' | 'dark';
const key = 'liminal.theme';

function initial(): Theme {
  const chosen = readItem('local', key);
  return chosen === 'light' || chosen === 'dark' ? chosen : 'system';
}

export const theme = createStore<Theme>(initial());

export function setTheme(next: Theme): void {
  writeItem('local', key, next === 'system' ? null : next);
  if (next === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = next;
  theme.set(next);
}
