// The Model Context Protocol's conformance suite of clients, played with the client that
// calls the tools of mcp.server artifacts. How it signs in, which the suite tries too, is
// a connection's (internal/connect), and not the protocol's.
import assert from 'node:assert/strict'
import { run } from './lib/programs.mjs'

const met = ['initialize', 'tools_call']
await Promise.all(
  met.map(async (scenario) => {
    const { code, out, said } = await run('@modelcontextprotocol/conformance', ['client', '--command', process.env.MCP_CLIENT, '--scenario', scenario])
    assert.equal(code, 0, `${scenario}: ${out}${said}`)
  }),
)
console.log('@modelcontextprotocol/conformance: our client holds')
