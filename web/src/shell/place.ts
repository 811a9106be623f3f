const pages = ['contexts', 'artifacts', 'settings', 'operate'] as const;

export type Place = 'chat' | (typeof pages)[number];

/** Which part of the program an address belongs to. */
export function placeOf(path: string): Place {
  return pages.find((one) => path === `/${one}` || path.startsWith(`/${one}/`)) ?? 'chat';
}
