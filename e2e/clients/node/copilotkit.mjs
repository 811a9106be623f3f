// CopilotKit, whose runtime stands between a page and Liminal: a turn, and a question
// that is answered, with its core in place of a page.
process.env.COPILOTKIT_TELEMETRY_DISABLED = 'true'
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'

// Its packages bring an AG-UI client of their own version.
const { HttpAgent } = createRequire(import.meta.resolve('@copilotkit/runtime'))('@ag-ui/client')
const { CopilotRuntime } = await import('@copilotkit/runtime/v2')
const { createCopilotNodeListener } = await import('@copilotkit/runtime/v2/node')
const { CopilotKitCore, ProxiedCopilotRuntimeAgent } = await import('@copilotkit/core')

const liminal = new HttpAgent({
  url: process.env.BASE_URL.replace(/\/$/, '') + '/agui/assistant',
  headers: { Authorization: 'Bearer ' + process.env.LIMINAL_KEY },
})
const runtime = createServer(createCopilotNodeListener({ runtime: new CopilotRuntime({ agents: { liminal } }), basePath: '/copilot' }))
await new Promise((resolve) => runtime.listen(0, '127.0.0.1', resolve))

// Outside of a browser the core does not ask a runtime which agents it has.
const agent = new ProxiedCopilotRuntimeAgent({ runtimeUrl: `http://127.0.0.1:${runtime.address().port}/copilot`, agentId: 'liminal', threadId: 'check-' + randomUUID() })
const core = new CopilotKitCore({ agents__unsafe_dev_only: { liminal: agent } })
let last
agent.subscribe({ onRunFinishedEvent: ({ event }) => void (last = event) })
const says = (content) => agent.addMessage({ id: randomUUID(), role: 'user', content })

says('hello')
await core.runAgent({ agent })
assert.equal(agent.messages.at(-1).role, 'assistant')
assert.match(agent.messages.at(-1).content, /^Hello/)

says('Summarize and compare')
await core.runAgent({ agent })
assert.equal(last.outcome?.type, 'interrupt', JSON.stringify(last))
const [question] = last.outcome.interrupts
const payload = question.responseSchema.oneOf[1].const
last = undefined
await core.runAgent({ agent, resume: [{ interruptId: question.id, status: 'resolved', payload }] })
assert.notEqual(last, undefined)
assert.notEqual(last.outcome?.interrupts?.[0].id, question.id)
console.log('CopilotKit: all holds')
process.exit() // its connections stay open
