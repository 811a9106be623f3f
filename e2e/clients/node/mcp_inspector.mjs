// The Model Context Protocol's inspector, on its command line, in both eras: what there
// is, an assistant that is asked, and a wrong key.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { run } from './lib/programs.mjs'

const url = process.env.BASE_URL.replace(/\/$/, '') + '/mcp'

const home = mkdtempSync(tmpdir() + '/inspector-') // it keeps things there

async function inspect(key, ...args) {
  const at = ['--cli', url, '--transport', 'http', '--header', 'Authorization: Bearer ' + key, '--stored-auth-only', '--format', 'json', '--quiet']
  const { code, out, said } = await run('@modelcontextprotocol/inspector', [...at, ...args], { env: { ...process.env, HOME: home } })
  return { code, said, result: code === 0 ? JSON.parse(out).result : undefined }
}

await Promise.all(
  ['legacy', 'modern'].map(async (era) => {
    const listed = await inspect(process.env.LIMINAL_KEY, '--protocol-era', era, '--method', 'tools/list', '--strict')
    assert.equal(listed.code, 0, listed.said)
    const names = listed.result.tools.map((tool) => tool.name)
    for (const name of ['ask_assistant', 'answer', 'run', 'runs', 'search_documents']) assert(names.includes(name), names.join())
    const call = ['--method', 'tools/call', '--tool-name', 'ask_assistant', '--tool-arg', 'message=Hello there']
    const told = await inspect(process.env.LIMINAL_KEY, '--protocol-era', era, ...call)
    assert.equal(told.code, 0, told.said)
    assert.equal(told.result.structuredContent.status, 'done')
    assert(told.result.content[0].text.startsWith('Hello.'), JSON.stringify(told.result))
  }),
)
assert.notEqual((await inspect('lim_nobody', '--method', 'tools/list')).code, 0)
rmSync(home, { recursive: true })
console.log('@modelcontextprotocol/inspector: all holds')
