const pages = ['contexts', 'artifacts', 'settings', 'operate', 'r', 'inbox'] as const;

export type Place = 'chat' | 'surface' | (typeof pages)[number];

/** Which part of the program an address belongs to. What is none of ours may be an assistant's (GRND-01). */
export function placeOf(path: string): Place {
  if (path === '/' || path.startsWith('/c/')) return 'chat';
  return pages.find((one) => path === `/${one}` || path.startsWith(`/${one}/`)) ?? 'surface';
}
