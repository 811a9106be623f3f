// What a key may open, in the order the page offers it.

export type Scope = 'chat' | 'read' | 'write' | 'tools' | 'artifacts' | 'propose' | 'mcp' | 'webhooks' | 'admin';

const all: Scope[] = ['chat', 'read', 'write', 'tools', 'artifacts', 'propose', 'mcp', 'webhooks'];

/** What somebody of a role is offered. */
export const offered = (role: string | undefined): Scope[] => (role === 'admin' ? [...all, 'admin'] : all);

export const lives = [7, 30, 90, 180, 365];
