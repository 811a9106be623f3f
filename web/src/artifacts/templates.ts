// What a new document of each kind begins with: the least that passes.

export const kinds = ['workflow.chat', 'policy.routing', 'policy.models', 'tool.spec', 'adapter.lora'] as const;

export type NewKind = (typeof kinds)[number];

export function templateOf(kind: NewKind, name: string): unknown {
  switch (kind) {
    case 'workflow.chat':
      return {
        kind,
        entrypoint: 'answer',
        nodes: [{ id: 'answer', type: 'tool_call', tool: 'llm.generic_chat_v1', inputs: { message: '${input.message}' } }],
      };
    case 'policy.routing':
      return { kind, rules: [] };
    case 'tool.spec':
      return { kind, name: name || 'my.tool_v1', description: 'What it does, and when to use it.', input_schema: { type: 'object', properties: {} }, output_schema: { type: 'object', properties: {} }, workflow: 'default' };
    case 'adapter.lora':
      return { kind, mode: 'prompt', prompt_instructions: '' };
    default:
      return { kind };
  }
}
