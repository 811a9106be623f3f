// Programs of npm packages, which are run as people run them.
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const modules = fileURLToPath(new URL('../node_modules/', import.meta.url))

// Some want a newer Node than the one here: the registry has that too.
function node() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major > 22 || (major === 22 && minor >= 19)) return process.execPath
  const own = `${modules}node-${process.platform}-${process.arch}/bin/node`
  if (!existsSync(own)) throw new Error(`this needs Node 22.19, here is ${process.version}, and npm has none for this machine`)
  return own
}

/** Runs the only program of a package to its end. */
export async function run(name, args, options = {}) {
  const { bin } = JSON.parse(readFileSync(`${modules}${name}/package.json`, 'utf8'))
  const child = spawn(node(), [`${modules}${name}/${Object.values(bin)[0]}`, ...args], { stdio: ['ignore', 'pipe', 'pipe'], ...options })
  let out = ''
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (text) => (out += text))
  child.stderr.setEncoding('utf8').on('data', (text) => (said += text))
  const code = await new Promise((resolve, reject) => child.on('error', reject).on('close', resolve))
  return { code, out, said }
}
