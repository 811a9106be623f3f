// What a block says, in pieces that can be shown. Whoever wrote it is a stranger:
// every form is taken for what it may be, and what is not known is JSON.

export type Piece =
  | { kind: 'prose'; text: string }
  | { kind: 'output'; text: string; language: string }
  | { kind: 'json'; value: unknown }
  | { kind: 'medium'; type: string; size: number }
  | { kind: 'redacted' }
  | { kind: 'failed' };

interface Loose {
  type?: unknown;
  text?: unknown;
  thinking?: unknown;
  input?: unknown;
  content?: unknown;
  is_error?: unknown;
  source?: { media_type?: unknown; data?: unknown; url?: unknown } | null;
}

export function pieces(content: unknown): Piece[] {
  if (content === null || content === undefined || content === '') return [];
  if (typeof content === 'string') return [{ kind: 'prose', text: content }];
  if (Array.isArray(content)) return [{ kind: 'json', value: content }];
  if (typeof content !== 'object') return [{ kind: 'json', value: content }];
  const block = content as Loose;
  switch (block.type) {
    case 'text':
      return typeof block.text === 'string' ? prose(block.text) : [{ kind: 'json', value: content }];
    case 'thinking':
      return typeof block.thinking === 'string' ? prose(block.thinking) : [{ kind: 'json', value: content }];
    case 'redacted_thinking':
      return [{ kind: 'redacted' }];
    case 'tool_use':
    case 'server_tool_use':
    case 'mcp_tool_use':
      return [{ kind: 'json', value: block.input ?? {} }];
    case 'tool_result':
      return [...(block.is_error === true ? [{ kind: 'failed' } as const] : []), ...results(block.content)];
    case 'image':
    case 'document':
      return [medium(block)];
    default:
      return [{ kind: 'json', value: content }];
  }
}

function prose(text: string): Piece[] {
  return text === '' ? [] : [{ kind: 'prose', text }];
}

/** What a tool gave: its texts stand as they are, spaces and all. */
function results(content: unknown): Piece[] {
  if (typeof content === 'string') return output(content);
  if (!Array.isArray(content)) return content === undefined || content === null ? [] : [{ kind: 'json', value: content }];
  return content.flatMap((one: Loose | null): Piece[] => {
    if (one?.type === 'text' && typeof one.text === 'string') return output(one.text);
    if (one?.type === 'image' || one?.type === 'document') return [medium(one)];
    return [{ kind: 'json', value: one }];
  });
}

function output(text: string): Piece[] {
  if (text === '') return [];
  return [{ kind: 'output', text, language: /^\s*[[{]/.test(text) && isJSON(text) ? 'json' : '' }];
}

function isJSON(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function medium(block: Loose): Piece {
  const { source } = block;
  const type = typeof source?.media_type === 'string' ? source.media_type : String(block.type);
  const data = typeof source?.data === 'string' ? source.data : '';
  return { kind: 'medium', type, size: Math.floor((data.length * 3) / 4) };
}

/** An event of a stream: its name, and what it says. */
export interface Frame {
  event: string;
  data: string;
}

/** The events of a stream as they came, one after the other. */
export function framesOf(text: string): Frame[] {
  const frames: Frame[] = [];
  for (const part of text.split(/(?<=\r\n\r\n|\n\n|\r\r)/)) {
    let event = '';
    const data: string[] = [];
    for (const line of part.split(/\r\n|\n|\r/)) {
      if (line.startsWith('event:')) event = line.slice(6).trim();
      if (line.startsWith('data:')) data.push(line.slice(5).replace(/^ /, ''));
    }
    if (event || data.length > 0) frames.push({ event, data: data.join('\n') });
  }
  return frames;
}
