export type Place = 'chat' | 'artifacts' | 'operate';

/** Which part of the program an address belongs to. */
export function placeOf(path: string): Place {
  if (path === '/artifacts' || path.startsWith('/artifacts/')) return 'artifacts';
  if (path === '/operate' || path.startsWith('/operate/')) return 'operate';
  return 'chat';
}
