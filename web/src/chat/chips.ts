// Links that go with an answer.

import type { Segment } from '../api/types.ts';

/** A link that goes with an answer: to a record a tool of its run returned, or to a page of its source (GRND-17). */
export interface Chip {
  href: string;
  label: string;
}

const chipKinds: ReadonlySet<string> = new Set(['record', 'page']);

/** The links a stored answer carries (CHAT-07). */
export function chipsOf(segments: Segment[] | null | undefined): Chip[] {
  return (segments ?? [])
    .filter((segment) => segment.type === 'attachment' && chipKinds.has(segment.kind ?? '') && leads(segment.uri ?? ''))
    .map((segment) => ({ href: segment.uri!, label: segment.description || segment.uri! }));
}

/** Whether an address is one a chip may lead to: a path of this program, or a page over https. */
export function leads(href: string): boolean {
  return /^\/(?![/\\])/.test(href) || href.startsWith('https://');
}

/** Chips with one more, each address once. */
export function withChip(chips: Chip[], chip: Chip): Chip[] {
  return !leads(chip.href) || chips.some((one) => one.href === chip.href) ? chips : [...chips, chip];
}
