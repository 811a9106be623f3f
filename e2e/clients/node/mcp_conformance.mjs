// The Model Context Protocol's conformance suite of servers, with its baseline: what is
// not met is listed there with its reason, and what is met must not be.
import assert from 'node:assert/strict'
import http from 'node:http'
import { fileURLToPath } from 'node:url'
import { run } from './lib/programs.mjs'

const base = new URL(process.env.BASE_URL)

// The suite sends no key. In front of the server stands what adds one, as a proxy does
// that has signed somebody in; what names itself falsely stays as it is.
const proxy = http.createServer((req, res) => {
  const headers = { ...req.headers, authorization: 'Bearer ' + process.env.LIMINAL_KEY }
  const own = `127.0.0.1:${proxy.address().port}`
  if (headers.host === own) headers.host = base.host
  if (headers.origin === `http://${own}`) headers.origin = base.origin
  const to = http.request({ host: base.hostname, port: base.port, path: req.url, method: req.method, headers }, (back) => {
    res.writeHead(back.statusCode, back.headers)
    back.pipe(res)
  })
  to.on('error', () => res.destroy())
  res.on('close', () => to.destroy())
  req.pipe(to)
})
await new Promise((resolve) => proxy.listen(0, '127.0.0.1', resolve))
const baseline = fileURLToPath(new URL('mcp_conformance.yaml', import.meta.url))
const { code, out, said } = await run('@modelcontextprotocol/conformance', [
  'server', '--url', `http://127.0.0.1:${proxy.address().port}/mcp`, '--suite', 'all', '--expected-failures', baseline,
])
proxy.close()
proxy.closeAllConnections()
assert.equal(code, 0, out.slice(out.indexOf('=== SUMMARY')) + said)
assert.match(out, /✓ dns-rebinding-protection/, out)
console.log('@modelcontextprotocol/conformance: all holds')
