import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { freePort } from '../engines/port.ts'
import { buildLink, buildWorkspace } from '../server/test/build.ts'
import { startServer } from '../server/test/server-process.ts'
import { openBench } from './stack.ts'

/** The redirect with durable capture beside a bare node:http that answers a constant 302, in one run. */
const connections = 64
const seconds = Number(process.argv[2] ?? 8)
const rounds = 3
const load = fileURLToPath(new URL('./load.ts', import.meta.url))
type Result = { perSecond: number; p50: number; p99: number; failures: number }

await using bench = await openBench()
const { platform, environment } = bench
const workspace = await buildWorkspace(platform)
const links = await Promise.all(
  Array.from({ length: 100 }, (_, n) => buildLink(platform, workspace, { key: `bench-${n}` })),
)
const paths = links.map((link) => `/${link.key}`)
const bare = await startBare()
const [ack, eager] = await Promise.all([
  startServer({ ...environment, ROLES: 'redirect', LOG_LEVEL: 'info' }),
  startServer({
    ...environment,
    ROLES: 'redirect',
    LOG_LEVEL: 'info',
    CLICK_DURABILITY: 'async',
    SPOOL_DIRECTORY: `${environment.SPOOL_DIRECTORY}-async`,
  }),
])
const results: Record<string, Result[]> = { bare: [], ack: [], async: [] }
const targets = { bare: bare.url, ack: ack.redirect, async: eager.redirect }
try {
  for (const url of Object.values(targets)) await measure(url, 2)
  for (let round = 1; round <= rounds; round++) {
    for (const [name, url] of Object.entries(targets)) {
      results[name]?.push(await measure(url, seconds))
      console.error(`round ${round} of ${rounds}: ${name} ${Math.round(results[name]?.at(-1)?.perSecond ?? 0)}/s`)
    }
  }
} finally {
  bare.stop()
  await Promise.all([ack.stop(), eager.stop()])
}

const reference = middle(results.bare ?? [])
console.log(`| redirect, ${connections} connections | req/s | × bare | p50 ms | p99 ms | × bare | failures |`)
console.log('| --- | --- | --- | --- | --- | --- | --- |')
for (const [name, list] of Object.entries(results)) {
  const { perSecond, p50, p99, failures } = middle(list)
  const shares = [perSecond / reference.perSecond, p99 / reference.p99].map((share) => share.toFixed(2))
  console.log(
    `| ${name} | ${Math.round(perSecond)} | ${shares[0]} | ${p50.toFixed(2)} | ${p99.toFixed(2)} | ${shares[1]} | ${failures} |`,
  )
}

async function measure(url: string, duration: number): Promise<Result> {
  const args = [load, url, String(connections), String(duration), workspace.domain, ...paths]
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: (duration + 10) * 1000 })
  return JSON.parse(stdout) as Result
}

function middle(list: Result[]): Result {
  return list.toSorted((a, b) => a.perSecond - b.perSecond)[Math.floor(list.length / 2)] as Result
}

async function startBare(): Promise<{ url: string; stop(): void }> {
  const port = await freePort()
  const code = `require('node:http').createServer((q, r) => { r.writeHead(302, { Location: 'https://example.com/landing',
    'Cache-Control': 'no-store', 'Content-Length': 0 }); r.end() }).listen(${port}, '127.0.0.1', () => console.log('up'))`
  const child = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(child.stdout, 'data')
  return { url: `http://127.0.0.1:${port}`, stop: () => void child.kill() }
}
