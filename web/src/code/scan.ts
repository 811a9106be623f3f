// Where something stands in the text of a JSON document, also in one that is
// still being written: the place a pointer names, and what is being written
// at the cursor.

export interface Range {
  from: number;
  to: number;
}

type TokenKind = 'string' | 'word' | '{' | '}' | '[' | ']' | ':' | ',';

interface Token extends Range {
  kind: TokenKind;
  open: boolean; // a string that does not end
}

/** Cuts a text into tokens. Whatever is no JSON becomes a word. */
function* tokens(text: string): Generator<Token> {
  for (let at = 0; at < text.length; ) {
    const letter = text[at]!;
    if (/\s/.test(letter)) {
      at++;
    } else if (letter === '"') {
      const end = stringEnd(text, at);
      yield { kind: 'string', from: at, to: end.to, open: end.open };
      at = end.to;
    } else if ('{}[]:,'.includes(letter)) {
      yield { kind: letter as TokenKind, from: at, to: at + 1, open: false };
      at++;
    } else {
      const word = /^[^\s"{}[\]:,]+/.exec(text.slice(at, at + 400))![0];
      yield { kind: 'word', from: at, to: at + word.length, open: false };
      at += word.length;
    }
  }
}

/** A string ends at its quote, or with its line: one that is open must not swallow the rest. */
function stringEnd(text: string, from: number): { to: number; open: boolean } {
  for (let at = from + 1; at < text.length; at++) {
    const letter = text[at];
    if (letter === '\\') at++;
    else if (letter === '"') return { to: at + 1, open: false };
    else if (letter === '\n') return { to: at, open: true };
  }
  return { to: text.length, open: true };
}

interface Frame {
  list: boolean;
  path: string[];
  key: string;
  index: number;
  awaits: 'key' | 'value'; // of an object
  members: Map<string, string>; // of an object: what its strings say
}

const frame = (list: boolean, path: string[]): Frame => ({ list, path, key: '', index: 0, awaits: 'key', members: new Map() });

function here(top: Frame | undefined): string[] {
  if (!top) return [];
  return [...top.path, top.list ? String(top.index) : top.key];
}

/** Follows the tokens through lists and objects. */
class Walk {
  readonly stack: Frame[] = [];

  get top(): Frame | undefined {
    return this.stack.at(-1);
  }

  /** Where a value that begins now would stand. */
  get path(): string[] {
    return here(this.top);
  }

  /** Takes one token; true when it is the name of a member. */
  take(token: Token, text: string): boolean {
    const top = this.top;
    switch (token.kind) {
      case '{':
      case '[':
        this.stack.push(frame(token.kind === '[', this.path));
        return false;
      case '}':
      case ']':
        this.stack.pop();
        return false;
      case ':':
        if (top && !top.list) top.awaits = 'value';
        return false;
      case ',':
        if (top?.list) top.index++;
        else if (top) top.awaits = 'key';
        return false;
      default:
        return this.scalar(token, text, top);
    }
  }

  private scalar(token: Token, text: string, top: Frame | undefined): boolean {
    if (!top || top.list) return false;
    if (top.awaits === 'value') {
      if (token.kind === 'string') top.members.set(top.key, unquoted(text, token));
      return false;
    }
    top.key = unquoted(text, token);
    if (!top.members.has(top.key)) top.members.set(top.key, '');
    return true;
  }
}

function unquoted(text: string, token: Token): string {
  const raw = text.slice(token.from, token.to);
  try {
    const value: unknown = JSON.parse(token.open ? `${raw}"` : raw);
    return typeof value === 'string' ? value : raw;
  } catch {
    return raw.replace(/^"|"$/g, '');
  }
}

export function pointerOf(path: readonly string[]): string {
  return path.map((part) => `/${part.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** The first and last letter of every value, by its pointer; a member's own name belongs to it. */
export function places(text: string): Map<string, Range> {
  const found = new Map<string, Range>();
  const walk = new Walk();
  const opened: { pointer: string; from: number }[] = [];
  let name: Range | null = null;
  for (const token of tokens(text)) {
    const pointer = pointerOf(walk.path);
    if (token.kind === '{' || token.kind === '[') opened.push({ pointer, from: name?.from ?? token.from });
    if (walk.take(token, text)) {
      name = token;
      continue;
    }
    if (token.kind === '}' || token.kind === ']') {
      const begun = opened.pop();
      if (begun) found.set(begun.pointer, { from: begun.from, to: token.to });
    } else if (token.kind === 'string' || token.kind === 'word') {
      found.set(pointer, { from: name?.from ?? token.from, to: token.to });
    }
    if (token.kind !== ':') name = null;
  }
  for (const begun of opened) if (!found.has(begun.pointer)) found.set(begun.pointer, { from: begun.from, to: text.length });
  return found;
}

/** The place of a pointer, or of the nearest thing around it that is there. */
export function placeOf(all: ReadonlyMap<string, Range>, pointer: string): Range {
  for (let path = pointer; path; path = path.slice(0, path.lastIndexOf('/'))) {
    const found = all.get(path);
    if (found) return found;
  }
  return { from: 0, to: 1 };
}

/** What is being written at a place. */
export interface Spot extends Range {
  role: 'key' | 'value';
  path: string[]; // of the value; for a key, of the object it belongs to
  typed: string; // what is there already, from its beginning to the cursor
  quoted: boolean;
  members: ReadonlyMap<string, string>; // of the object around it
  colon: boolean; // a colon follows
}

/** What somebody writes at the cursor; null between things, where nothing can be said. */
export function spotAt(text: string, cursor: number): Spot | null {
  const walk = new Walk();
  let top: Frame | undefined;
  let spot: Spot | null = null;
  for (const token of tokens(text)) {
    if (spot) {
      if (spot.colon === false && token.kind === ':' && /^\s*$/.test(text.slice(spot.to, token.from))) spot.colon = true;
      if (top && !walk.stack.includes(top)) break; // the rest of its object was read for its members
    } else if (token.to >= cursor) {
      const inside = token.from < cursor && (token.kind === 'string' || token.kind === 'word');
      if (token.kind === 'string' && token.from < cursor && token.to === cursor && !token.open) return null; // behind its end
      top = walk.top;
      spot = spotOf(walk, text, cursor, inside ? token : null);
    }
    walk.take(token, text);
  }
  return spot ?? spotOf(walk, text, cursor, null);
}

function spotOf(walk: Walk, text: string, cursor: number, token: Token | null): Spot | null {
  const top = walk.top;
  if (!top) return null;
  const range = token ?? { from: cursor, to: cursor };
  const typed = text.slice(range.from, cursor).replace(/^"/, '');
  const quoted = token?.kind === 'string';
  const shared = { from: range.from, to: range.to, typed, quoted, members: top.members, colon: false };
  if (!top.list && top.awaits === 'key') return { ...shared, role: 'key', path: top.path };
  return { ...shared, role: 'value', path: here(top) };
}
