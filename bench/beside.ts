import { loadavg } from 'node:os'
import { linkNumbers } from '../server/src/features/links/service.ts'
import { buildLink, buildWorkspace } from '../server/test/build.ts'
import { contextIn } from '../server/test/context.ts'
import { startServer } from '../server/test/server-process.ts'
import { generateEvents } from './data/events.ts'
import { report } from './figures.ts'
import { type Load, runLoad } from './run-load.ts'
import { openBench } from './stack.ts'
import { failWhenMissed, middle, table } from './table.ts'

/**
 * `npm run bench:beside [-- --short]`: the default installation with all roles at a steady 1,000 clicks per second from
 * different visitors. Measures redirects alone, and then while one client exports all events and another sends random
 * analytics queries.
 */
const isShort = process.argv.includes('--short')
const events = isShort ? 300_000 : 5_000_000
const seconds = isShort ? 8 : 20
const rounds = isShort ? 1 : 3
const perSecond = 1_000
const connections = 64
const mostTimes = 1.5
const groupings = ['count', 'timeseries', 'countries', 'cities', 'devices', 'browsers', 'os', 'referers', 'top_links']

await using bench = await openBench()
const { platform, environment } = bench
const workspace = await buildWorkspace(platform)
const links = await Promise.all(
  Array.from({ length: 200 }, (_, n) => buildLink(platform, workspace, { key: `bench-${n}` })),
)
const ctx = contextIn(platform, workspace.id)
const numbers = await linkNumbers(ctx, { ids: links.map(({ id }) => id) })
await generateEvents(platform, { workspaceId: workspace.id, numbers, count: events })

// An empty value gives the default number of redirect processes.
const server = await startServer({ ...environment, REDIRECT_PROCESSES: '' })
const done = { exports: 0, rows: 0, queries: 0, refused: 0 }
let first = 1_000_000
try {
  await measure(5)
  const alone: Load[] = []
  const beside: Load[] = []
  for (let round = 1; round <= rounds; round++) {
    alone.push(await measure(seconds))
    const clients = startClients()
    beside.push(await measure(seconds))
    await clients.stop()
    console.error(
      `round ${round} of ${rounds}: p99 ${alone.at(-1)?.p99.toFixed(1)} → ${beside.at(-1)?.p99.toFixed(1)} ms`,
    )
  }
  const columns = ['clicks/s', 'p50 ms', 'p99 ms', 'worst ms', 'failures']
  const title = `${perSecond} clicks/s, ${events} events`
  report('beside', { title, columns, rows: [row('alone', alone), row('beside', beside)] })
  console.log(`\nbeside: ${JSON.stringify(done)}; load average ${loadavg().map((load) => load.toFixed(1))}`)
  console.log(await memory())
  const at = (loads: Load[]) => middle(loads.map(({ p99 }) => p99))
  failWhenMissed([
    { name: 'redirect p99 beside an export and analytics, × alone', figure: at(beside) / at(alone), atMost: mostTimes },
    {
      name: 'clicks/s beside an export and analytics',
      figure: middle(beside.map((load) => load.perSecond)),
      atLeast: perSecond * 0.95,
    },
    { name: 'failures', figure: [...alone, ...beside].reduce((sum, load) => sum + load.failures, 0), atMost: 0 },
    { name: 'exported rows', figure: done.rows, atLeast: 1 },
    { name: 'answered analytics queries', figure: done.queries, atLeast: 1 },
  ])
} finally {
  await server.stop()
}

function row(name: string, loads: Load[]): (string | number)[] {
  const of = (figure: 'perSecond' | 'p50' | 'p99' | 'worst') => middle(loads.map((load) => load[figure])).toFixed(1)
  const failures = loads.reduce((sum, load) => sum + load.failures, 0)
  return [name, Math.round(Number(of('perSecond'))), of('p50'), of('p99'), of('worst'), failures]
}

function measure(duration: number): Promise<Load> {
  const paths = links.map(({ key }) => `/${key}`)
  const visitors = { first, rate: perSecond, distinct: true }
  first += perSecond * duration * 2
  return runLoad({ url: server.redirect, host: workspace.domain, paths, connections, seconds: duration, ...visitors })
}

/** Starts two clients: one exports everything repeatedly, the other sends one analytics query after the other. */
function startClients() {
  const stopping = new AbortController()
  const headers = { authorization: `Bearer ${workspace.key}` }
  const repeat = async (work: () => Promise<void>) => {
    while (!stopping.signal.aborted) {
      await work().catch((error) => {
        if (!stopping.signal.aborted) throw error
      })
    }
  }
  const clients = Promise.all([repeat(exportAll), repeat(askAnalytics)])

  async function exportAll(): Promise<void> {
    const url = `${server.api}/events/export?interval=all&format=ndjson`
    const response = await fetch(url, { headers, signal: stopping.signal })
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
    for await (const chunk of response.body ?? []) {
      for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) done.rows += 1
    }
    done.exports += 1
  }

  async function askAnalytics(): Promise<void> {
    const query = new URLSearchParams({ event: 'clicks', interval: 'all', groupBy: pick(groupings) })
    if (Math.random() < 0.5) query.set('country', pick(['FR', 'DE', 'US', 'JP']))
    if (Math.random() < 0.5) query.set('linkId', pick(links).id)
    const response = await fetch(`${server.api}/analytics?${query}`, { headers, signal: stopping.signal })
    await response.arrayBuffer()
    if (response.ok) done.queries += 1
    else if (response.status === 429) done.refused += 1
    else throw new Error(`${response.status} for ${query}`)
  }

  return {
    async stop() {
      stopping.abort()
      await clients
    },
  }
}

function pick<T>(items: T[]): T {
  return items[Math.floor(Math.random() * items.length)] as T
}

async function memory(): Promise<string> {
  const text = await (await fetch(`${server.ops}/metrics`)).text()
  const found = text.matchAll(/^tributary_process_resident_memory_bytes\{role="(\w+)",slot="(\d+)"\} (\S+)$/gm)
  const rows = [...found].map(([, role = '', slot = '', bytes]) => [role, slot, Math.round(Number(bytes) / 1e6)])
  return table('process', ['slot', 'resident MB'], rows)
}
