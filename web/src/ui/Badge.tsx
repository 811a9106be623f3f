import { useWords } from '../i18n/index.ts';

const kinds = ['workflow', 'policy', 'adapter', 'tool', 'memory', 'context', 'private', 'shared', 'global', 'draft'] as const;

export type BadgeKind = (typeof kinds)[number];

/** The colour of a kind of artifact or of who sees it (UI-12). */
export function Badge({ kind }: { kind: BadgeKind }) {
  return <span className={`badge ${sights.has(kind) ? 'visibility-badge' : 'type-badge'} ${kind}`}>{useWords().badge(kind)}</span>;
}

const sights: ReadonlySet<BadgeKind> = new Set(['private', 'shared', 'global']);

/** What an artifact's type is called in short: workflow of workflow.chat. */
export function kindOf(type: string): BadgeKind | null {
  const short = type.split('.')[0] ?? '';
  return (kinds as readonly string[]).includes(short) ? (short as BadgeKind) : null;
}

/** The badge of an artifact's type; one nobody knows stands as it is. */
export function TypeBadge({ type }: { type: string }) {
  const kind = kindOf(type);
  return kind ? <Badge kind={kind} /> : <span className="badge type-badge">{type}</span>;
}
