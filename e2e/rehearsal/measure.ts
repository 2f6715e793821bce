import { setTimeout as sleep } from 'node:timers/promises'
import { openClickHouse } from '../../server/src/platform/clickhouse.ts'
import { readConfig } from '../../server/src/platform/config.ts'
import { type CountedStack, readCounts, waitUntilCounted } from '../faults/count.ts'
import { buildLine } from '../faults/line.ts'
import type { Incident, Outcome } from './client.ts'
import type { Fault, Moments } from './faults.ts'
import { apiUrl, call, type Fixtures, fromProxy, readDestination } from './fixtures.ts'
import { ports, selectHosts, settingsOn } from './hosts.ts'
import { type Rates, startLoad } from './load.ts'
import type { Stack } from './stack.ts'
import { openVisitor, silentConnection } from './visitor.ts'

/** What one fault did to visitors and clients. */
export type Result = {
  fault: string
  visits: number
  lost: number
  doubled: number
  /** First attempts that failed, and visits that also failed when they were repeated. */
  retried: number
  failed: number
  writes: number
  writesRetried: number
  writesLost: number
  writesDoubled: number
  worstMs: number
  /** From the beginning of the fault until the last request that failed or took more than a second has ended. */
  visitsRecoveredMs: number
  writesRecoveredMs: number
  /** From the end of the fault until every click is stored and counted. */
  countedMs: number
  /** Until a changed link has its new destination on every redirect. */
  changedMs: number
  problems: string[]
  /** Attempts that failed, by cause. */
  causes: Map<string, number>
}

const countedWithinMs = 180_000
/** Less than a minute, after which redirects look a link up again without a message. */
const changedWithinMs = 20_000
/** A request may begin while the processes of a host are ended one after the other. */
const toleratedMs = 100

export function openCounts(stack: Stack, { workspaces, lastLinks }: Fixtures): CountedStack {
  const [host] = selectHosts('worker')
  if (!host) throw new Error('There is no worker')
  const environment = settingsOn(stack.installation, host)
  const visitor = openVisitor(selectHosts('caddy').map(({ address }) => address))
  return {
    workspaces,
    lastLinks,
    environment,
    platform: { clickhouse: openClickHouse(readConfig(environment)) },
    balancer: { send: (request) => visitor.send(request).catch(() => visitor.sendAgain(request)) },
    api: { api: apiUrl(), headers: fromProxy },
    redirects: selectHosts('redirect').map(({ address, number }) => ({
      pid: number,
      ops: `http://${address}:${ports.ops}`,
    })),
  }
}

/** Causes the fault under load, waits until every click is counted, and compares. */
export async function measure(
  stack: Stack,
  fixtures: Fixtures,
  counted: CountedStack,
  fault: Fault,
  { rates, steadyMs }: { rates: Rates; steadyMs: number },
): Promise<Result> {
  const before = await readCounts(counted)
  const writesBefore = await readWrites(fixtures)
  const exitsBefore = new Map(stack.exits)
  const load = startLoad(stack, fixtures, rates, { repeats: !fault.withoutRepeats })
  const moments: Moments = {}
  let outcome: Outcome
  try {
    await sleep(steadyMs)
    await fault.happen(stack, moments)
    await sleep(steadyMs)
  } finally {
    outcome = await load.stop()
  }
  const problems: string[] = []
  const note = (error: Error) => void problems.push(error.message)
  await waitUntilCounted(counted, outcome.tally, countedWithinMs).catch(note)
  const countedAt = Date.now()
  const after = await readCounts(counted)
  // Lost clicks that redirects admit restart with their process, so that only the comparison tells.
  const line = buildLine(fault.name, { tally: outcome.tally, before, after: { ...after, lost: before.lost } }, false)
  const written = await waitForWrites(fixtures, writesBefore, outcome)
  const changedMs = await changeLink(fixtures).catch((error: Error) => {
    note(error)
    return 0
  })
  const { writes, tally } = outcome
  problems.push(...line.problems, ...judge(fault, outcome, moments))
  if (written.lost > 0) problems.push(`${written.lost} acknowledged writes are lost`)
  if (written.doubled > 0) problems.push(`${written.doubled} writes are doubled`)
  for (const [host, count] of stack.exits) {
    const times = count - (exitsBefore.get(host) ?? 0)
    if (times > 0) problems.push(`${host} ended by itself ${times} times`)
  }
  return {
    fault: fault.name,
    visits: tally.answered,
    lost: line.lost,
    doubled: line.doubled,
    retried: sum(outcome.retried),
    failed: sum(tally.failures),
    writes: writes.links + writes.sales,
    writesRetried: sum(writes.failed),
    writesLost: written.lost,
    writesDoubled: written.doubled,
    worstMs: tally.worstMs,
    visitsRecoveredMs: recovery(outcome.incidents, 'visit', moments),
    writesRecoveredMs: recovery(outcome.incidents, 'write', moments),
    countedMs: countedAt - (moments.healed ?? countedAt),
    changedMs,
    problems,
    causes: new Map([...outcome.retried, ...writes.failed]),
  }
}

async function changeLink({ changing, writer }: Fixtures): Promise<number> {
  const url = `https://example.com/changed-${Date.now()}`
  await call(writer.key, `/links/${changing.id}`, { url }, 'PATCH')
  const began = performance.now()
  for (const host of selectHosts('redirect')) {
    while ((await readDestination(changing, host)) !== url) {
      if (performance.now() - began > changedWithinMs) throw new Error(`${host.name} does not know a changed link`)
      await sleep(50)
    }
  }
  return performance.now() - began
}

function judge(fault: Fault, { incidents, retried, writes }: Outcome, { began = 0, caused = 0 }: Moments): string[] {
  const problems: string[] = []
  const failed = incidents.filter(({ problem }) => problem !== undefined)
  const isInFlight = ({ from, until, problem }: Incident) =>
    problem === silentConnection || (from <= caused + toleratedMs && until >= began)
  const others = failed.filter((incident) => incident.what === 'visit' && !(fault.breaksVisits && isInFlight(incident)))
  if (others.length > 0) {
    problems.push(
      `${others.length} visits failed that were not in flight at the killed host: ${[...retried.keys()].join(', ')}`,
    )
  }
  if (!fault.breaksWrites && writes.failed.size > 0) {
    problems.push(`${sum(writes.failed)} writes failed: ${[...writes.failed.keys()].slice(0, 3).join(', ')}`)
  }
  if (writes.givenUp.length > 0) problems.push(`${writes.givenUp.length} writes never succeeded: ${writes.givenUp[0]}`)
  return problems
}

function recovery(incidents: Incident[], what: Incident['what'], { began = 0 }: Moments): number {
  const last = incidents
    .filter((incident) => incident.what === what && incident.until > began)
    .map(({ until }) => until)
  return Math.max(began, ...last) - began
}

type Written = { links: number; sales: number; stored: number }

async function readWrites({ writer: { key } }: Fixtures): Promise<Written> {
  const links = await call<number>(key, '/links/count')
  const { sales } = await call<{ sales: number }>(key, '/analytics?event=composite&groupBy=count&interval=all')
  const [sold] = await call<{ sales: number }[]>(key, '/links?search=sold&pageSize=1')
  return { links, sales: sold?.sales ?? 0, stored: sales }
}

/** Compares acknowledged links and sales with stored ones; sales also appear in ClickHouse, a moment later. */
async function waitForWrites(fixtures: Fixtures, before: Written, { writes }: Outcome) {
  const until = Date.now() + countedWithinMs
  for (;;) {
    const now = await readWrites(fixtures).catch(() => before)
    const differences = [
      now.links - before.links - writes.links,
      now.sales - before.sales - writes.sales,
      now.stored - before.stored - writes.sales,
    ]
    const lost = Math.max(0, ...differences.map((difference) => -difference))
    // A write that the client gave up may be stored.
    const doubled = Math.max(0, ...differences.map((difference) => difference - writes.givenUp.length))
    if ((lost === 0 && doubled === 0) || Date.now() > until) return { lost, doubled }
    await sleep(500)
  }
}

function sum(counts: Map<string, number>): number {
  return [...counts.values()].reduce((total, count) => total + count, 0)
}
