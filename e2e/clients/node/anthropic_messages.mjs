// Anthropic's client for Node: models, messages, streams, typed errors, and a question
// that the next message answers, in the run that asked it.
import assert from 'node:assert/strict'
import Anthropic from '@anthropic-ai/sdk'

const baseURL = process.env.BASE_URL.replace(/\/$/, '')
const client = new Anthropic({ baseURL, apiKey: process.env.LIMINAL_KEY, maxRetries: 0 })
const user = (content) => ({ role: 'user', content })
const asks = (model, ...messages) => ({ model, max_tokens: 512, messages })

const models = []
for await (const model of client.models.list()) models.push(model.id)
assert(models.includes('liminal') && models.includes('assistant'), models.join())

const said = [user('Hello there')]
const first = await client.messages.create(asks('liminal', ...said))
assert.equal(first.stop_reason, 'end_turn')
said.push({ role: 'assistant', content: first.content }, user('And more?'))
const stream = client.messages.stream(asks('liminal', ...said))
const kinds = []
let words = ''
stream.on('text', (text) => { words += text })
for await (const event of stream) kinds.push(event.type)
const final = await stream.finalMessage()
assert.equal(kinds[0], 'message_start')
assert.equal(kinds.at(-1), 'message_stop')
assert.equal(final.content.map((block) => block.text).join(''), words)
assert(words.trim())
said.push({ role: 'assistant', content: final.content }, user('And last?'))
const last = await client.messages.create(asks('liminal', ...said))
assert.equal(last.x_liminal.conversation_id, first.x_liminal.conversation_id)
assert((await client.messages.countTokens({ model: 'liminal', messages: said })).input_tokens > 0)

const question = user('Summarize and compare')
const asked = await client.messages.create(asks('assistant', question))
assert.match(asked.content[0].text, /1\. [^]*2\. /)
const answered = await client.messages.create(asks('assistant', question, { role: 'assistant', content: asked.content }, user('2')))
assert.equal(answered.x_liminal.run_id, asked.x_liminal.run_id)
assert(answered.content[0].text)

await assert.rejects(client.messages.create(asks('claude-opus-9', user('Hello'))), Anthropic.NotFoundError)
await assert.rejects(client.messages.create(asks('liminal', user('Hello'), { role: 'assistant', content: 'Hi' })), Anthropic.BadRequestError)
const nobody = new Anthropic({ baseURL, apiKey: 'lim_nobody', maxRetries: 0 })
await assert.rejects(nobody.messages.create(asks('liminal', user('Hello'))), Anthropic.AuthenticationError)
console.log('@anthropic-ai/sdk: all holds')
