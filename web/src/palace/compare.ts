// A request as its client sent it against what went upstream, part by part: the
// system prompt, the tools, each block of each message, and all else together.

export interface Part {
  key: string;
  kind: 'system' | 'tools' | 'message' | 'rest';
  number: number; // from 1; of the messages, the message's
  role: string;
  value: unknown;
}

export interface Changed {
  part: Part;
  before: unknown;
  after: unknown;
}

export interface Compared {
  changed: Changed[];
  same: number;
}

/** What differs; null: one of them is no JSON. */
export function compare(raw: string, sent: string): Compared | null {
  const [before, after] = [partsOf(raw), partsOf(sent)];
  if (!before || !after) return null;
  const then = new Map(after.map((part) => [part.key, part]));
  const changed: Changed[] = [];
  let same = 0;
  for (const part of before) {
    const now = then.get(part.key);
    then.delete(part.key);
    if (now && JSON.stringify(now.value) === JSON.stringify(part.value)) same++;
    else changed.push({ part, before: lined(part.value), after: now && lined(now.value) });
  }
  for (const part of then.values()) changed.push({ part, before: undefined, after: lined(part.value) });
  return { changed, same };
}

/** The parts of a request; null: it is no JSON. */
export function partsOf(body: string): Part[] | null {
  let whole: Record<string, unknown>;
  try {
    whole = JSON.parse(body) as Record<string, unknown>;
  } catch {
    return null;
  }
  if (typeof whole !== 'object' || whole === null || Array.isArray(whole)) return null;
  const { system, tools, messages, ...rest } = whole;
  const parts: Part[] = listOf(system).map((value, at) => ({ key: `system ${at}`, kind: 'system', number: at + 1, role: '', value }));
  if (tools !== undefined) parts.push({ key: 'tools', kind: 'tools', number: 1, role: '', value: tools });
  (Array.isArray(messages) ? messages : []).forEach((message: { role?: unknown; content?: unknown } | null, at) => {
    const role = String(message?.role ?? '');
    listOf(message?.content).forEach((value, of) => parts.push({ key: `message ${at} ${of}`, kind: 'message', number: at + 1, role, value }));
  });
  if (Object.keys(rest).length > 0) parts.push({ key: 'rest', kind: 'rest', number: 1, role: '', value: rest });
  return parts;
}

function listOf(value: unknown): unknown[] {
  return value === undefined || value === null ? [] : Array.isArray(value) ? value : [value];
}

/** Texts of several lines as lists of them, so that each line is compared with its own. */
export function lined(value: unknown): unknown {
  if (typeof value === 'string') return value.includes('\n') ? value.split('\n') : value;
  if (Array.isArray(value)) return value.map(lined);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, lined(member)]));
}

/** The beginning of what a part says, in a line; empty: it says nothing in words. */
export function glance(value: unknown): string {
  const { text, thinking, content, name } = (typeof value === 'object' && value !== null ? value : { text: value }) as Record<string, unknown>;
  const first = [text, thinking, content, name, Array.isArray(content) ? (content[0] as { text?: unknown } | null)?.text : ''].find((one) => typeof one === 'string' && one !== '');
  return typeof first === 'string' ? first.slice(0, 200).replaceAll(/\s+/g, ' ').trim() : '';
}

/** How many bytes a text has. */
export function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}
