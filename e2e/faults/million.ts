import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { readCounters, readCounts, verify, waitUntilCounted } from './count.ts'
import { buildLine, formatTable, type Line } from './line.ts'
import { loadFully, newTally } from './load.ts'
import { readComplaints } from './run.ts'
import { type FaultStack, openFaultStack } from './stack.ts'
import { openVisits } from './visits.ts'

/*
 * `npm run test:million -- --seed 1`: sends a million clicks of different people and bots at full speed while each
 * process is killed once, then checks every counter and row. Options: `--no-kills`, `--clicks <number>`.
 */
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(randomInt(1_000_000)) },
    clicks: { type: 'string', default: '1000000' },
    connections: { type: 'string', default: '64' },
    'no-kills': { type: 'boolean', default: false },
  },
})
const people = Number(values.clicks)
const countedWithinMs = 600_000
const lineIntervalMs = 5_000
const victims = ['redirect', 'worker', 'nats', 'clickhouse', 'valkey', 'postgres'] as const

type Kill = { victim: (typeof victims)[number]; after: number; downMs: number }

for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))
await using stack = await openFaultStack({ linksPerWorkspace: 30 })
const kills = values['no-kills'] ? [] : planKills(Number(values.seed), people)
const killed: string[] = []
const tally = newTally()
const started = performance.now()
let isOver = false
const note = (text: string) => process.stderr.write(`${text}\n`)
note(`seed ${values.seed}, ${people} clicks on ${stack.links.length} links`)
const reporting = reportProgress()
const line = await run(stack).catch((error: Error) => {
  note(`${error.message}\n${readComplaints(stack)}`)
  process.exitCode = 1
})
isOver = true
await reporting
if (line) conclude(line)

async function run(stack: FaultStack): Promise<Line> {
  const before = await readCounts(stack)
  // Repeat visits count again after Valkey lost its memory, so runs with kills have no repeats.
  const visits = openVisits(stack.links, { repeats: kills.length === 0, cycle: 100 })
  const [loadSeconds] = await Promise.all([
    loadFully(stack.balancer, visits, tally, { connections: Number(values.connections), people }).then(secondsSoFar),
    killAll(stack),
  ])
  await waitUntilCounted(stack, tally, countedWithinMs)
  const seconds = secondsSoFar()
  note(`answered ${perSecond(people, loadSeconds)} a second, stored and counted ${perSecond(people, seconds)} a second`)
  const after = await readCounts(stack)
  const found = await verify(stack)
  const fault = killed.length > 0 ? `killed: ${killed.join(', ')}` : 'none'
  const line = buildLine(fault, { tally, before, after }, false)
  if (found !== undefined) line.problems.push(`tributary verify: ${found}`)
  return line
}

async function killAll(stack: FaultStack): Promise<void> {
  for (const { victim, after, downMs } of kills) {
    while (tally.answered < after) await sleep(20)
    killed.push(victim)
    await killOne(stack, victim, downMs)
  }
}

async function killOne(stack: FaultStack, victim: Kill['victim'], downMs: number): Promise<void> {
  if (victim === 'redirect') {
    stack.redirects[0]?.kill('SIGKILL')
    await sleep(downMs)
    stack.redirects[0] = await stack.startRedirect(0)
    stack.balance()
  } else if (victim === 'worker') {
    stack.workers[0]?.kill('SIGKILL')
    await sleep(downMs)
    stack.workers = [await stack.startWorker()]
  } else {
    stack.engines[victim]?.kill('SIGKILL')
    await sleep(downMs)
    await stack.engines[victim]?.restart()
  }
}

/** Plans kills in random order, at random moments of the run, for up to two seconds each. */
function planKills(seed: number, people: number): Kill[] {
  const random = randomFrom(seed)
  const order = victims
    .map((victim) => ({ victim, at: random() }))
    .sort((one, other) => one.at - other.at)
    .map(({ victim }) => victim)
  const moments = order.map(() => Math.floor((0.03 + random() * 0.9) * people)).sort((one, other) => one - other)
  return order.map((victim, index) => ({ victim, after: moments[index] ?? 0, downMs: random() * 2_000 }))
}

/** The Mulberry32 generator: the same seed gives the same numbers from 0 to below 1. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

async function reportProgress(): Promise<void> {
  for (let last = performance.now(); !isOver; await sleep(100)) {
    if (performance.now() - last < lineIntervalMs) continue
    last = performance.now()
    const counted = await readCounters(stack).then(({ total }) => total, String)
    note(`${tally.answered} of ${people} answered, ${counted} counted, ${Math.round(secondsSoFar())} s${suffix()}`)
  }
}

function suffix(): string {
  return killed.length > 0 ? `, killed ${killed.join(', ')}` : ''
}

function conclude(line: Line): void {
  console.log(formatTable([line]))
  if (line.problems.length === 0) return
  note(`${line.problems.slice(0, 20).join('\n')}\n${readComplaints(stack)}`)
  process.exitCode = 1
}

function secondsSoFar(): number {
  return (performance.now() - started) / 1000
}

function perSecond(count: number, seconds: number): number {
  return Math.round(count / seconds)
}
