// What the browser was sent back with after it was to connect an account. It
// stands behind the # and is read once.

export type Came = { name: string } | { reason: string };

/** What an address says of it; null for any other. */
export function readCame(hash: string): Came | null {
  const said = new URLSearchParams(hash.replace(/^#/, ''));
  const name = said.get('connected');
  const reason = said.get('not_connected');
  return name ? { name } : reason ? { reason } : null;
}

/** Takes it out of the address, and out of the history with it. */
export function dropCame(): void {
  if (readCame(location.hash)) history.replaceState(history.state, '', location.pathname + location.search);
}
