// Storage that may be closed to us (private windows, blocked cookies): reading
// then finds nothing and writing does nothing, and the program works on.

export function readItem(area: 'local' | 'session', key: string): string | null {
  try {
    return (area === 'local' ? localStorage : sessionStorage).getItem(key);
  } catch {
    return null;
  }
}

export function writeItem(area: 'local' | 'session', key: string, value: string | null): void {
  try {
    const storage = area === 'local' ? localStorage : sessionStorage;
    if (value === null) storage.removeItem(key);
    else storage.setItem(key, value);
  } catch {
    // Full or closed: the value lives as long as the page.
  }
}
