import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { jetstreamManager } from '@nats-io/jetstream'
import { freePort } from '../engines/port.ts'
import { eventStream } from '../server/src/platform/nats.ts'
import { buildLink, buildWorkspace } from '../server/test/build.ts'
import { type ServerProcess, startServer } from '../server/test/server-process.ts'
import { readArguments, report } from './figures.ts'
import { type Load, runLoad } from './run-load.ts'
import { openBench } from './stack.ts'
import { failWhenMissed, middle } from './table.ts'

/**
 * Measures redirects with durable click capture, and in the same run a bare node:http server that returns a constant 302. Each
 * request is from another visitor, because a visitor's second click within an hour is not logged again. Then the same for the
 * default installation, whose worker stores the clicks meanwhile, and for its answers at a steady rate.
 */
const connections = 64
// What a server with ROLES=redirect does by default.
const [apart, asyncApart] = ['ack, a process per core', 'async, a process per core']
const [seconds = 6] = readArguments().map(Number)
const rounds = 5
const steadyPerSecond = 1_000
const steadySeconds = 12
const steadyRow = `default, ${steadyPerSecond}/s`
const bareSteadyRow = `bare, ${steadyPerSecond}/s`

await using bench = await openBench()
const { platform, environment } = bench
const workspace = await buildWorkspace(platform)
const links = await Promise.all(
  Array.from({ length: 100 }, (_, n) => buildLink(platform, workspace, { key: `bench-${n}` })),
)
const paths = links.map((link) => `/${link.key}`)
let visitors = 1_000_000
const bare = await startBare()
const results: Record<string, Load[]> = {}
const bareLoads: Record<string, Load[]> = {}
try {
  await measureBesideBare({
    ack: await startRedirect({ REDIRECT_PROCESSES: '1' }),
    async: await startRedirect({ CLICK_DURABILITY: 'async', REDIRECT_PROCESSES: '1' }),
    [apart]: await startRedirect({ REDIRECT_PROCESSES: '' }),
    [asyncApart]: await startRedirect({ CLICK_DURABILITY: 'async', REDIRECT_PROCESSES: '' }),
  })
  await emptyLog()
  // An empty value gives the default number of redirect processes.
  const everything = await startServer({ ...environment, REDIRECT_PROCESSES: '' })
  // The steady rate first: at full speed, the log fills faster than the worker stores it.
  await measure(everything.redirect, { rate: steadyPerSecond, seconds: 10 })
  for (let round = 1; round <= rounds; round++) {
    keep(results, bareSteadyRow, await measure(bare.url, { rate: steadyPerSecond, seconds: steadySeconds }))
    keep(results, steadyRow, await measure(everything.redirect, { rate: steadyPerSecond, seconds: steadySeconds }))
  }
  await measureBesideBare({ default: everything })
} finally {
  bare.stop()
}

const first = Object.keys(results)[0] as string
const rows = Object.entries({ bare: bareLoads[first] ?? [], ...results }).map(([name, list]) => {
  const of = (figure: 'perSecond' | 'p50' | 'p99') => middle(list.map((load) => load[figure]))
  const besideBare = (figure: 'perSecond' | 'p99') =>
    name === 'bare' ? '1.00' : bareLoads[name] ? beside(name, figure).toFixed(2) : ''
  const latency = [of('p50').toFixed(2), of('p99').toFixed(2)]
  return [name, Math.round(of('perSecond')), besideBare('perSecond'), ...latency, besideBare('p99'), failures(list)]
})
const columns = ['req/s', '× bare', 'p50 ms', 'p99 ms', '× bare', 'failures']
report('redirect', { title: `redirect, ${connections} connections`, columns, rows })
const steady = results[steadyRow] ?? []
failWhenMissed([
  { name: 'redirect ack, throughput × bare', figure: beside(apart, 'perSecond'), atLeast: 0.7 },
  { name: 'redirect ack, p99 × bare', figure: beside(apart, 'p99'), atMost: 2 },
  { name: 'redirect async, throughput × bare', figure: beside(asyncApart, 'perSecond'), atLeast: 0.85 },
  { name: 'redirect async, p99 × bare', figure: beside(asyncApart, 'p99'), atMost: 2 },
  { name: 'default installation, throughput × bare', figure: beside('default', 'perSecond'), atLeast: 0.4 },
  { name: 'default installation, p99 × bare', figure: beside('default', 'p99'), atMost: 4 },
  { name: `${steadyRow}, p50 in ms`, figure: middle(steady.map(({ p50 }) => p50)), atMost: 1 },
  { name: `${steadyRow}, p99 in ms`, figure: middle(steady.map(({ p99 }) => p99)), atMost: 8 },
  { name: 'redirect, failures', figure: failures(Object.values(results).flat()), atMost: 0 },
])

/** Warms the servers up, then measures each after the bare server in every round. Stops the servers afterwards. */
async function measureBesideBare(servers: Record<string, ServerProcess>): Promise<void> {
  const targets = Object.entries({ bare: bare.url, ...mapUrls(servers) })
  try {
    // Warms up the JIT compiler.
    for (const [, url] of targets) await measure(url, { seconds: 4 })
    for (let round = 1; round <= rounds; round++) {
      const loads: Record<string, Load> = {}
      for (const [name, url] of targets) loads[name] = await measure(url, { seconds })
      for (const name of Object.keys(servers)) {
        keep(results, name, loads[name] as Load)
        keep(bareLoads, name, loads.bare as Load)
      }
      const rates = Object.entries(loads).map(([name, load]) => `${name} ${Math.round(load.perSecond)}/s`)
      console.error(`round ${round} of ${rounds}: ${rates.join(', ')}`)
    }
  } finally {
    await Promise.all(Object.values(servers).map((server) => server.stop()))
  }
}

// Divides each result by the bare server's result of the same round, because the machine's other load varies.
function beside(name: string, figure: 'perSecond' | 'p99'): number {
  return middle((results[name] ?? []).map((load, round) => load[figure] / (bareLoads[name]?.[round]?.[figure] ?? 1)))
}

function failures(list: Load[]): number {
  return list.reduce((sum, load) => sum + load.failures, 0)
}

function keep(lists: Record<string, Load[]>, name: string, load: Load): void {
  lists[name] = [...(lists[name] ?? []), load]
}

function mapUrls(servers: Record<string, ServerProcess>): Record<string, string> {
  return Object.fromEntries(Object.entries(servers).map(([name, { redirect }]) => [name, redirect]))
}

function startRedirect(settings: Record<string, string>): Promise<ServerProcess> {
  const spool = `${environment.SPOOL_DIRECTORY}-${Object.values(settings).join('')}`
  return startServer({ ...environment, ROLES: 'redirect', SPOOL_DIRECTORY: spool, ...settings })
}

/** Without this, the worker of the default installation would first store all clicks that were measured before. */
async function emptyLog(): Promise<void> {
  const manager = await jetstreamManager(platform.nats)
  for (let partition = 0; partition < platform.config.EVENT_PARTITIONS; partition++)
    await manager.streams.purge(eventStream(partition))
}

function measure(url: string, given: { seconds: number; rate?: number }): Promise<Load> {
  const first = visitors
  visitors += 1_000_000
  return runLoad({ url, host: workspace.domain, paths, connections, distinct: true, first, ...given })
}

async function startBare(): Promise<{ url: string; stop(): void }> {
  const port = await freePort()
  const code = `require('node:http').createServer((q, r) => { r.writeHead(302, { Location: 'https://example.com/landing',
    'Cache-Control': 'no-store', 'Content-Length': 0 }); r.end() }).listen(${port}, '127.0.0.1', () => console.log('up'))`
  const child = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(child.stdout, 'data')
  return { url: `http://127.0.0.1:${port}`, stop: () => void child.kill() }
}
