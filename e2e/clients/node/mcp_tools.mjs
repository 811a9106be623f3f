// The Model Context Protocol's client for Node, with a session: lists, an assistant
// that is asked, a question that is answered by a form and by a tool, and a wrong key.
import assert from 'node:assert/strict'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'

const url = new URL(process.env.BASE_URL.replace(/\/$/, '') + '/mcp')

async function connect(key, answers) {
  const client = new Client({ name: 'checks', version: '1' }, { capabilities: answers ? { elicitation: {} } : {} })
  if (answers) client.setRequestHandler(ElicitRequestSchema, answers)
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers: { Authorization: 'Bearer ' + key } } }))
  return client
}
const asks = { name: 'ask_assistant', arguments: { message: 'Summarize and compare' } }

const asked = []
const shows = await connect(process.env.LIMINAL_KEY, ({ params }) => {
  asked.push(params.message)
  const field = params.requestedSchema.properties.answer
  if (!field.oneOf) return { action: 'decline' } // it asks further
  return { action: 'accept', content: { answer: field.oneOf[1].const } }
})
const names = (await shows.listTools()).tools.map((tool) => tool.name)
for (const name of ['ask_assistant', 'answer', 'run', 'runs', 'search_documents']) assert(names.includes(name), names.join())
assert.deepEqual((await shows.listResources()).resources, [])
const told = await shows.callTool(asks)
assert.equal(asked.length, 2)
assert(!told.isError && told.structuredContent.status === 'done', JSON.stringify(told))
await shows.close()

// Without forms the question is told, and waits for the tool answer.
const plain = await connect(process.env.LIMINAL_KEY)
const waits = (await plain.callTool(asks)).structuredContent
assert.equal(waits.status, 'waiting')
const answered = await plain.callTool({ name: 'answer', arguments: { interrupt_id: waits.questions[0].interrupt_id, answer: '2' } })
assert(!answered.isError, JSON.stringify(answered))
assert.equal(answered.structuredContent.run_id, waits.run_id)
const now = await plain.callTool({ name: 'run', arguments: { run_id: waits.run_id } })
assert.equal(now.structuredContent.status, answered.structuredContent.status)
await plain.close()

await assert.rejects(connect('lim_nobody'), (err) => err.code === 401 || /401/.test(err.message))
console.log('@modelcontextprotocol/sdk: all holds')
