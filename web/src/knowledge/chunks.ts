const least = 64; // tokens
const most = 4000;

/** The size of passages somebody typed: undefined for none, null for what the server would refuse (FILE-10). */
export function chunkSizeOf(text: string): number | undefined | null {
  const typed = text.trim();
  if (typed === '') return undefined;
  const size = /^\d{1,5}$/.test(typed) ? Number(typed) : 0;
  return size >= least && size <= most ? size : null;
}
