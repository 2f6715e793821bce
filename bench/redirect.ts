import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { freePort } from '../engines/port.ts'
import { buildLink, buildWorkspace } from '../server/test/build.ts'
import { startServer } from '../server/test/server-process.ts'
import { readArguments, report } from './figures.ts'
import { type Load, runLoad } from './run-load.ts'
import { openBench } from './stack.ts'
import { failWhenMissed, middle } from './table.ts'

/** Measures redirects with durable click capture, and in the same run a bare node:http server that returns a constant 302. */
const connections = 64
const [seconds = 8] = readArguments().map(Number)
const rounds = 5

await using bench = await openBench()
const { platform, environment } = bench
const workspace = await buildWorkspace(platform)
const links = await Promise.all(
  Array.from({ length: 100 }, (_, n) => buildLink(platform, workspace, { key: `bench-${n}` })),
)
const paths = links.map((link) => `/${link.key}`)
const bare = await startBare()
const [ack, eager] = await Promise.all([
  startServer({ ...environment, ROLES: 'redirect' }),
  startServer({
    ...environment,
    ROLES: 'redirect',
    CLICK_DURABILITY: 'async',
    SPOOL_DIRECTORY: `${environment.SPOOL_DIRECTORY}-async`,
  }),
])
const results: Record<string, Load[]> = { bare: [], ack: [], async: [] }
const targets = { bare: bare.url, ack: ack.redirect, async: eager.redirect }
try {
  // Warms up the JIT compiler.
  for (const url of Object.values(targets)) await measure(url, 4)
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

// Divides each result by the bare server's result of the same round, because the machine's other load varies.
const beside = (name: string, figure: 'perSecond' | 'p99') =>
  middle(results[name]?.map((load, round) => load[figure] / (results.bare?.[round]?.[figure] ?? 1)) ?? [])
const failures = (name: string) => results[name]?.reduce((sum, load) => sum + load.failures, 0) ?? 0
const rows = Object.entries(results).map(([name, list]) => {
  const of = (figure: 'perSecond' | 'p50' | 'p99') => middle(list.map((load) => load[figure]))
  const besideBare = [beside(name, 'perSecond').toFixed(2), beside(name, 'p99').toFixed(2)] as const
  const latency = [of('p50').toFixed(2), of('p99').toFixed(2)]
  return [name, Math.round(of('perSecond')), besideBare[0], ...latency, besideBare[1], failures(name)]
})
const columns = ['req/s', '× bare', 'p50 ms', 'p99 ms', '× bare', 'failures']
report('redirect', { title: `redirect, ${connections} connections`, columns, rows })
failWhenMissed([
  { name: 'redirect ack, throughput × bare', figure: beside('ack', 'perSecond'), atLeast: 0.55 },
  { name: 'redirect ack, p99 × bare', figure: beside('ack', 'p99'), atMost: 2.5 },
  { name: 'redirect async, throughput × bare', figure: beside('async', 'perSecond'), atLeast: 0.65 },
  { name: 'redirect, failures', figure: failures('ack') + failures('async'), atMost: 0 },
])

function measure(url: string, duration: number): Promise<Load> {
  return runLoad({ url, host: workspace.domain, paths, connections, seconds: duration })
}

async function startBare(): Promise<{ url: string; stop(): void }> {
  const port = await freePort()
  const code = `require('node:http').createServer((q, r) => { r.writeHead(302, { Location: 'https://example.com/landing',
    'Cache-Control': 'no-store', 'Content-Length': 0 }); r.end() }).listen(${port}, '127.0.0.1', () => console.log('up'))`
  const child = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(child.stdout, 'data')
  return { url: `http://127.0.0.1:${port}`, stop: () => void child.kill() }
}
