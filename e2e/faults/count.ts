import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { createClient } from '@tributary/contract/client'
import { listLinks } from '@tributary/contract/links'
import { query } from '../../server/src/platform/clickhouse.ts'
import type { Platform } from '../../server/src/platform/context.ts'
import type { BuiltWorkspace } from '../../server/test/build.ts'
import type { ServerProcess } from '../../server/test/server-process.ts'
import type { Balancer } from './balancer.ts'
import { send, type Tally } from './load.ts'
import type { FaultStack } from './stack.ts'
import { buildVisit, openVisits } from './visits.ts'

export type Counts = {
  rows: number
  /** Rows with a duplicate id: a visit stored twice, or a repeat visit that was not detected. */
  doubled: number
  storedTwice: number
  bots: Record<string, number>
  /** Click counters from the API, by link id. */
  counters: Map<string, number>
  counted: number
  /** Lost clicks by process id, since its start. */
  lost: Map<number, number>
}

/** What is counted of an installation. */
export type CountedStack = Pick<FaultStack, 'lastLinks' | 'environment'> & {
  workspaces: Pick<BuiltWorkspace, 'id' | 'key'>[]
  platform: Pick<Platform, 'clickhouse'>
  balancer: Pick<Balancer, 'send'>
  api: Pick<ServerProcess, 'api'> & { headers?: Record<string, string> }
  redirects: Pick<ServerProcess, 'pid' | 'ops'>[]
}

const main = fileURLToPath(new URL('../../server/src/main.ts', import.meta.url))
const pollIntervalMs = 100
const patienceMs = 20_000
let lastVisitor = 1_000_000_000

/** Waits until the pipeline is empty: no clicks in the spools, and the last click of every workspace is counted. */
export async function waitUntilCounted(stack: CountedStack, tally: Tally, withinMs: number): Promise<void> {
  const until = Date.now() + withinMs
  await waitFor(until, 'the spools to be empty', async () => {
    const bytes = await Promise.all(stack.redirects.map((redirect) => readMetric(redirect, 'tributary_spool_bytes')))
    return bytes.every((size) => size === 0)
  })
  const before = await readCounters(stack)
  const visits = openVisits(stack.lastLinks, { repeats: false })
  for (const link of stack.lastLinks)
    await send(stack.balancer, visits, buildVisit('person', link, lastVisitor++), tally)
  await waitFor(until, 'the last clicks to be counted', async () => {
    const now = await readCounters(stack)
    return stack.lastLinks.every(({ id }) => (now.byLink.get(id) ?? 0) > (before.byLink.get(id) ?? 0))
  })
}

export async function readCounts(stack: CountedStack): Promise<Counts> {
  const { clickhouse } = stack.platform
  const byReason = await query<{ bot: string; rows: string; ids: string; visits: string }>(
    clickhouse,
    `SELECT bot, count() AS rows, uniqExact(id) AS ids, uniqExact(id, timestamp) AS visits
     FROM click_events GROUP BY bot`,
    {},
  )
  const people = byReason.find(({ bot }) => bot === '')
  const rows = Number(people?.rows ?? 0)
  const bots = byReason.flatMap(({ bot, rows }) => (bot === '' ? [] : [[bot, Number(rows)] as const]))
  const lost = stack.redirects.map(async (redirect) => {
    return [redirect.pid, await readMetric(redirect, 'tributary_clicks_lost_total')] as const
  })
  const { byLink, total } = await readCounters(stack)
  return {
    rows,
    doubled: rows - Number(people?.ids ?? 0),
    storedTwice: rows - Number(people?.visits ?? 0),
    bots: Object.fromEntries(bots),
    counters: byLink,
    counted: total,
    lost: new Map(await Promise.all(lost)),
  }
}

/** Runs `tributary verify`; returns its output if it found differences. */
export function verify(stack: CountedStack): Promise<string | undefined> {
  return new Promise((resolve) => {
    const env = { PATH: process.env.PATH, ...stack.environment }
    execFile(process.execPath, [main, 'verify', '--json'], { env, timeout: 120_000 }, (error, stdout, stderr) => {
      if (error) return resolve(`${stdout.slice(0, 2_000)}${stderr.slice(-2_000)}`)
      const { links, findings } = JSON.parse(stdout)
      resolve(links > 0 && findings.length === 0 ? undefined : stdout.slice(0, 2_000))
    })
  })
}

async function readMetric({ ops }: Pick<ServerProcess, 'ops'>, name: string): Promise<number> {
  const text = await (await fetch(`${ops}/metrics`)).text()
  const lines = text.split('\n').filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0)
}

/** Reads click counters from the API, with retries while it reconnects to its databases. */
export async function readCounters({ workspaces, api }: Pick<CountedStack, 'workspaces' | 'api'>) {
  const until = Date.now() + patienceMs
  for (;;) {
    try {
      const pages = await Promise.all(
        workspaces.map(({ key }) =>
          createClient({ url: api.api, token: key })(listLinks, {
            query: { pageSize: 100 },
            headers: api.headers,
          }),
        ),
      )
      const links = pages.flat()
      const sums = pages.map((page, index) => [workspaces[index]?.id ?? '', sumClicks(page)] as const)
      return {
        byLink: new Map(links.map(({ id, clicks }) => [id, clicks])),
        byWorkspace: new Map(sums),
        total: sumClicks(links),
      }
    } catch (error) {
      if (Date.now() > until) throw error
      await pause()
    }
  }
}

export async function waitFor(until: number, what: string, isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) {
    if (Date.now() > until) throw new Error(`Waited too long for ${what}`)
    await pause()
  }
}

function sumClicks(links: { clicks: number }[]): number {
  return links.reduce((sum, { clicks }) => sum + clicks, 0)
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, pollIntervalMs))
}
