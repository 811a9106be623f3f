// The order of the list of artifacts.

import type { Artifact } from '../api/artifacts.ts';

export const columns = ['type', 'name', 'visibility', 'version', 'updated'] as const;

export type Column = (typeof columns)[number];

export interface Order {
  by: Column;
  down: boolean; // the last first
}

export const usual: Order = { by: 'updated', down: true };

/** What a click on a column's heading makes of an order: turned round, or the column's own. */
export function turned(order: Order, by: Column): Order {
  return order.by === by ? { by, down: !order.down } : { by, down: by === 'updated' || by === 'version' };
}

export function sorted(list: readonly Artifact[], { by, down }: Order, language: string): Artifact[] {
  const collator = new Intl.Collator(language, { numeric: true });
  const compare = (a: Artifact, b: Artifact): number => {
    if (by === 'version') return a.version - b.version;
    if (by === 'updated') return a.updated_at.localeCompare(b.updated_at);
    return collator.compare(a[by], b[by]);
  };
  return list.toSorted((a, b) => (down ? -compare(a, b) : compare(a, b)) || collator.compare(a.name, b.name) || (a.id < b.id ? -1 : 1));
}
