// JSON as people read it: members in an order that tells (what it is before
// what it does, where it goes at the end), and short values on one line. The
// same value always gives the same text, so two of them can be compared.

const first = ['kind', 'title', 'id', 'name', 'type', 'description', 'entrypoint', 'interrupt_type', 'tool', 'workflow', 'op', 'path', 'from', 'when', 'say', 'message', 'over', 'as', 'body'];
const last = ['branches', 'next', 'on_error', 'on_cancel', 'actions', 'rules', 'rehearsal', 'nodes'];
const rank = new Map<string, number>([...first.map((key, at): [string, number] => [key, at - first.length]), ...last.map((key, at): [string, number] => [key, at + 1])]);

/** Members of objects in their order; lists stay as they are. */
export function tidy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(tidy);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).toSorted(([a], [b]) => (rank.get(a) ?? 0) - (rank.get(b) ?? 0) || (a < b ? -1 : 1));
  return Object.fromEntries(members.map(([key, member]) => [key, tidy(member)]));
}

const width = 88; // letters a value on one line may fill, with what stands before it

export function print(value: unknown): string {
  return write(tidy(value), '', 0);
}

function write(value: unknown, indent: string, before: number): string {
  const flat = inline(value);
  const members = Array.isArray(value) ? value.length : typeof value === 'object' && value !== null ? Object.keys(value).length : 0;
  if (members === 0 || (indent !== '' && indent.length + before + flat.length <= width && shallow(value))) return flat;
  const deeper = `${indent}  `;
  const rows = Array.isArray(value)
    ? value.map((one) => deeper + write(one, deeper, 0))
    : Object.entries(value as object).map(([key, one]) => {
        const name = `${JSON.stringify(key)}: `;
        return deeper + name + write(one, deeper, name.length);
      });
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  return `${open}\n${rows.join(',\n')}\n${indent}${close}`;
}

/** Only what holds no further lists or objects of its own goes on one line. */
function shallow(value: unknown): boolean {
  return typeof value !== 'object' || value === null || Object.values(value).every((one) => typeof one !== 'object' || one === null || Object.keys(one).length === 0);
}

function inline(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? '[]' : `[${value.map(inline).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value);
  return members.length === 0 ? '{}' : `{ ${members.map(([key, one]) => `${JSON.stringify(key)}: ${inline(one)}`).join(', ')} }`;
}
