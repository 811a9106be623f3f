// OpenAI's client for Node behind the capture proxy, told by its environment alone: a
// round with a tool and its result by chat completions, as a stream with its usage and
// at once, and the same by responses. The backend is an invented one, on this machine.
import assert from 'node:assert/strict'
import OpenAI from 'openai'

const client = new OpenAI({ maxRetries: 0 })
const model = 'gpt-invented'
const end = /^Grüße: .* end of the turn\.$/

const parameters = { type: 'object', properties: { path: { type: 'string' } } }
const messages = [
  { role: 'system', content: 'You read files.' },
  { role: 'user', content: 'Read the file.' },
]
const tools = [{ type: 'function', function: { name: 'read_file', parameters } }]
const stream = client.chat.completions.stream({ model, messages, tools, stream_options: { include_usage: true } })
const first = await stream.finalChatCompletion()
const call = first.choices[0].message.tool_calls[0]
assert.deepEqual(JSON.parse(call.function.arguments), { path: 'a file' })
assert.equal(first.usage.prompt_tokens, 120)
messages.push(first.choices[0].message, { role: 'tool', tool_call_id: call.id, content: 'what stands in it' })
const second = await client.chat.completions.create({ model, messages, tools })
assert.match(second.choices[0].message.content, end)

const input = [{ role: 'user', content: 'Read the file.' }]
const functions = [{ type: 'function', name: 'read_file', parameters, strict: false }]
const instructions = 'You read files.'
const one = await client.responses.stream({ model, instructions, input, tools: functions, store: false }).finalResponse()
const use = one.output.find((item) => item.type === 'function_call')
input.push(...one.output, { type: 'function_call_output', call_id: use.call_id, output: 'what stands in it' })
const two = await client.responses.create({ model, instructions, input, tools: functions, store: false })
assert.match(two.output_text, end)

await assert.rejects(client.files.retrieve('file-none'), OpenAI.NotFoundError)
// A list of models belongs to no history, and so to none that is played.
if (!process.env.PLAYED) for await (const found of client.models.list()) assert.equal(found.id, model)
