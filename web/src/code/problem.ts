// Where a text stops being JSON. Browsers tell it in words of their own, and
// not always; so it is looked for here.

export interface Broken {
  at: number;
  line: number; // from 1
  column: number;
}

export type Read = { value: unknown; broken: null } | { value: undefined; broken: Broken };

export function readJSON(text: string): Read {
  try {
    return { value: JSON.parse(text) as unknown, broken: null };
  } catch {
    return { value: undefined, broken: placeAt(text, end(text)) };
  }
}

function placeAt(text: string, at: number): Broken {
  const before = text.slice(0, at).split('\n');
  return { at, line: before.length, column: before.at(-1)!.length + 1 };
}

const part = /[{}[\],:]|"(?:[^"\\\n\r\t]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const space = /[ \t\n\r]*/y;

type Wanted = 'value' | 'name' | 'colon' | 'more' | 'nothing';

/** The letter at which a text cannot go on as JSON. */
function end(text: string): number {
  const open: ('{' | '[')[] = [];
  let wanted: Wanted = 'value';
  let fresh = false; // a list or an object has just begun, and may end
  for (let at = 0; ; ) {
    space.lastIndex = at;
    at += space.exec(text)![0].length;
    part.lastIndex = at;
    const found = part.exec(text)?.[0];
    const next: Wanted | null = found === undefined ? null : follow(found, wanted, fresh, open);
    if (next === null) return at;
    fresh = found === '{' || found === '[';
    wanted = next;
    at += found!.length;
  }
}

/** What has to come after a part; null where the part itself must not come. */
function follow(found: string, wanted: Wanted, fresh: boolean, open: ('{' | '[')[]): Wanted | null {
  const inside = open.at(-1);
  const over = (): Wanted => (open.length > 0 ? 'more' : 'nothing');
  if (found === '}' || found === ']') {
    const fits = inside === (found === '}' ? '{' : '[') && (wanted === 'more' || fresh);
    if (!fits) return null;
    open.pop();
    return over();
  }
  if (found === ':') return wanted === 'colon' ? 'value' : null;
  if (found === ',') return wanted === 'more' ? (inside === '{' ? 'name' : 'value') : null;
  if (wanted === 'name') return found.startsWith('"') ? 'colon' : null;
  if (wanted !== 'value') return null;
  if (found !== '{' && found !== '[') return over();
  open.push(found);
  return found === '{' ? 'name' : 'value';
}
