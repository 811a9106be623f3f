// An agent behind the capture proxy, as far as the pages of the palace need one: it
// sends its history again with each request, and what it was answered with it.

import { execFileSync } from 'node:child_process';
import { expect, type Page } from '@playwright/test';

interface Block {
  type: string;
  [member: string]: unknown;
}

interface Message {
  role: 'user' | 'assistant';
  content: string | Block[];
}

/** The address of the proxy that the program serves, with a token for a client in it. */
export function proxyAddress(client: string): string {
  const said = execFileSync(process.env['PROGRAM']!, ['palace', 'env', client, '--data', process.env['DATA']!], { encoding: 'utf8', env: { ...process.env, ANTHROPIC_BASE_URL: '' } });
  return /ANTHROPIC_BASE_URL=(\S+)/.exec(said)![1]!;
}

export class Agent {
  readonly messages: Message[] = [];

  constructor(
    private readonly page: Page,
    private readonly base: string,
    private readonly headers: Record<string, string>,
  ) {}

  /** Says something, and keeps what is answered. */
  async say(content: string | Block[]): Promise<Block[]> {
    this.messages.push({ role: 'user', content });
    const answer = await this.page.request.post(`${this.base}/v1/messages`, {
      headers: { 'x-api-key': 'sk-ant-an-invented-key', ...this.headers },
      data: { model: 'claude-test', stream: true, max_tokens: 1000, system: [{ type: 'text', text: 'You are an agent.' }], tools: [{ name: 'Bash', input_schema: { type: 'object' } }], messages: this.messages },
    });
    expect(answer.ok(), await answer.text()).toBe(true);
    const blocks = assembled(await answer.text());
    this.messages.push({ role: 'assistant', content: blocks });
    return blocks;
  }

  /** Says what a tool gave, of the call that was asked for last. */
  async result(content: string): Promise<Block[]> {
    const call = (this.messages.at(-1)!.content as Block[]).find((one) => one.type === 'tool_use')!;
    return this.say([{ type: 'tool_result', tool_use_id: call['id'], content }]);
  }
}

/** The blocks that a stream's events make together. */
function assembled(stream: string): Block[] {
  const blocks: Block[] = [];
  const inputs: string[] = [];
  for (const [, data] of stream.matchAll(/^data: (.*)$/gm)) {
    const event = JSON.parse(data!) as { type: string; index: number; content_block: Block; delta: Record<string, string> };
    const block = blocks[event.index];
    if (event.type === 'content_block_start') blocks[event.index] = event.content_block;
    if (event.type === 'content_block_delta' && block) {
      for (const member of ['text', 'thinking', 'signature']) if (event.delta[member]) block[member] = `${String(block[member] ?? '')}${event.delta[member]}`;
      if (event.delta['partial_json']) inputs[event.index] = `${inputs[event.index] ?? ''}${event.delta['partial_json']}`;
    }
  }
  inputs.forEach((text, at) => (blocks[at]!['input'] = JSON.parse(text)));
  return blocks;
}
