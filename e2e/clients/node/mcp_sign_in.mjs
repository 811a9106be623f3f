// The Model Context Protocol's client for Node signs its person in: it finds out where,
// registers, sends a browser (which is fetch here, with the person's session), trades
// the code, and renews its token when that is refused.
import assert from 'node:assert/strict'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { refreshAuthorization, UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'

const base = process.env.BASE_URL.replace(/\/$/, '')
const as = { Authorization: 'Bearer ' + process.env.LIMINAL_SESSION }

class Provider {
  kept = {}
  asked = []
  redirectUrl = 'http://127.0.0.1:3118/back'
  clientMetadata = { client_name: 'Checks', redirect_uris: [this.redirectUrl], token_endpoint_auth_method: 'none', grant_types: ['authorization_code', 'refresh_token'] }
  clientInformation = () => this.kept.client
  saveClientInformation = (client) => void (this.kept.client = client)
  tokens = () => this.kept.tokens
  saveTokens = (tokens) => void (this.kept.tokens = tokens)
  saveCodeVerifier = (verifier) => void (this.kept.verifier = verifier)
  codeVerifier = () => this.kept.verifier
  state = () => 'a state'
  redirectToAuthorization = (url) => void this.asked.push(url)
}

const client = () => new Client({ name: 'checks', version: '1' })
const provider = new Provider()
const way = () => new StreamableHTTPClientTransport(new URL(base + '/mcp'), { authProvider: provider })

const first = way()
await assert.rejects(client().connect(first), UnauthorizedError)
assert.equal(provider.asked.length, 1)

// The browser: to the page, and from there back with the person's decision.
const sent = await fetch(provider.asked[0], { redirect: 'manual' })
assert.equal(sent.status, 303, await sent.text())
const page = new URL(sent.headers.get('location'), base)
assert.equal(page.pathname, '/consent')
const told = await (await fetch(base + '/v1/oauth/consent' + page.search, { headers: as })).json()
assert.equal(told.data.client_name, 'Checks')
assert.equal(told.data.redirect_host, '127.0.0.1:3118')
const body = JSON.stringify({ ...Object.fromEntries(page.searchParams), allow: true })
const decided = await (await fetch(base + '/v1/oauth/consent', { method: 'POST', headers: { ...as, 'Content-Type': 'application/json' }, body })).json()
const back = new URL(decided.data.redirect)
assert.equal(back.origin + back.pathname, provider.redirectUrl)
assert.equal(back.searchParams.get('state'), 'a state')
assert.equal(back.searchParams.get('iss'), base)
await first.finishAuth(back.searchParams.get('code'))

const signedIn = client()
await signedIn.connect(way())
const names = (await signedIn.listTools()).tools.map((tool) => tool.name)
for (const name of ['ask_assistant', 'answer', 'runs']) assert(names.includes(name), names.join())

// What it has is good here only, and a token that is refused is renewed by itself.
const { access_token, refresh_token } = provider.kept.tokens
assert.equal((await fetch(base + '/v1/conversations', { headers: { Authorization: 'Bearer ' + access_token } })).status, 401)
provider.kept.tokens = { ...provider.kept.tokens, access_token: 'lim_run_out' }
await signedIn.listTools()
assert.notEqual(provider.kept.tokens.refresh_token, refresh_token)
assert.equal(provider.asked.length, 1)

// The refresh token before it counts no more, and ends what came of it.
const metadata = await (await fetch(base + '/.well-known/oauth-authorization-server')).json()
await assert.rejects(refreshAuthorization(metadata.issuer, { metadata, clientInformation: provider.kept.client, refreshToken: refresh_token }))
assert.equal((await fetch(base + '/mcp', { method: 'POST', headers: { Authorization: 'Bearer ' + provider.kept.tokens.access_token } })).status, 401)
await signedIn.close()
console.log('@modelcontextprotocol/sdk: signs in')
