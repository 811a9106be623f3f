// OpenAI's client for Node: models, chat completions, streams, typed errors, and a
// question that the next message answers, in the run that asked it.
import assert from 'node:assert/strict'
import OpenAI from 'openai'

const baseURL = process.env.BASE_URL + '/v1'
const client = new OpenAI({ baseURL, apiKey: process.env.LIMINAL_KEY, maxRetries: 0 })

const models = []
for await (const model of client.models.list()) models.push(model.id)
assert(models.includes('liminal') && models.includes('assistant'), models.join())

const said = [{ role: 'user', content: 'Summarize and compare' }]
const asked = await client.chat.completions.create({ model: 'assistant', messages: said })
const text = asked.choices[0].message.content
assert.match(text, /1\. [^]*2\. /)
const answered = await client.chat.completions.create({
  model: 'assistant',
  messages: [...said, { role: 'assistant', content: text }, { role: 'user', content: '2' }],
})
assert.equal(answered.id, asked.id)
assert(answered.choices[0].message.content)

let words = ''
for await (const chunk of await client.chat.completions.create({ model: 'assistant', messages: said, stream: true })) {
  words += chunk.choices[0]?.delta?.content ?? ''
}
assert.equal(words, text)

const hello = [{ role: 'user', content: 'Hello' }]
await assert.rejects(client.chat.completions.create({ model: 'no-such-model', messages: hello }), OpenAI.NotFoundError)
await assert.rejects(new OpenAI({ baseURL, apiKey: 'lim_nobody', maxRetries: 0 }).models.list(), OpenAI.AuthenticationError)
