import { setTimeout as sleep } from 'node:timers/promises'
import { jetstreamManager } from '@nats-io/jetstream'
import type { EngineName } from '../../engines/engine-process.ts'
import { eventStream } from '../../server/src/platform/nats.ts'
import type { ServerProcess } from '../../server/test/server-process.ts'
import { readCounters, waitFor } from './count.ts'
import { useFullDisk } from './full-disk.ts'
import type { Load } from './load.ts'
import type { FaultStack } from './stack.ts'

export type Pace = {
  perSecond: number
  steadyMs: number
  downMs: number
  /** Duration of the one long NATS outage. */
  natsDownMs: number
  /** Whether to run `tributary verify` after each fault, or once after the last. */
  verifyEach: boolean
}

export type Fault = {
  name: string
  /** Prepares the fault before the first visit, until everything is counted; consecutive faults share it. */
  prepare?(stack: FaultStack): Promise<AsyncDisposable>
  /** Causes the fault while visits arrive; returns when everything is up again. */
  happen(stack: FaultStack, pace: Pace, load: Load): Promise<void>
  /** Sends no repeat visits: they count again after Valkey lost its memory, as documented. */
  withoutRepeats?: boolean
  /** Whether NATS and spool are down at once; then lost clicks must appear in the metric. */
  mayLose?: boolean
  /** Whether `npm run test:faults` alone causes it: in CI another fault or test covers it. */
  isFullOnly?: boolean
}

export const shortPace: Pace = { perSecond: 300, steadyMs: 600, downMs: 1_500, natsDownMs: 8_000, verifyEach: false }
export const longPace: Pace = { perSecond: 400, steadyMs: 5_000, downMs: 6_000, natsDownMs: 60_000, verifyEach: true }

export const faults: Fault[] = [
  { name: 'none', happen: (_, { downMs }) => sleep(downMs), isFullOnly: true },
  { name: 'redirect killed', happen: killRedirects },
  { name: 'worker killed', happen: killWorker, isFullOnly: true },
  { name: 'worker paused, wakes up after takeover', happen: pauseWorker },
  { name: 'NATS killed', happen: killEngine('nats') },
  { name: 'ClickHouse killed', happen: killEngine('clickhouse') },
  { name: 'Valkey killed', happen: killEngine('valkey'), withoutRepeats: true },
  { name: 'Valkey stalls', happen: stallValkey },
  { name: 'PostgreSQL killed', happen: killEngine('postgres') },
  {
    name: 'NATS down',
    happen: (stack, { natsDownMs }) => killEngine('nats')(stack, { downMs: natsDownMs }),
    isFullOnly: true,
  },
  { name: 'spool disk full', prepare: useFullDisk, happen: (_, { downMs }) => sleep(downMs), isFullOnly: true },
  {
    name: 'spool disk full and NATS down',
    prepare: useFullDisk,
    happen: takeNatsBetweenVisits,
    withoutRepeats: true,
    mayLose: true,
  },
]

export const clusterFaults: Fault[] = [{ name: 'leader of 3 NATS nodes killed', happen: killLeader }]

async function killRedirects(stack: FaultStack, { downMs }: Pace): Promise<void> {
  for (const [number, redirect] of stack.redirects.entries()) {
    redirect.kill('SIGKILL')
    await sleep(downMs / 2)
    stack.redirects[number] = await stack.startRedirect(number)
    stack.balance()
  }
}

async function killWorker(stack: FaultStack, { downMs }: Pace): Promise<void> {
  stack.workers[0]?.kill('SIGKILL')
  await sleep(downMs / 2)
  stack.workers = [await stack.startWorker()]
}

/** Pauses the active worker until the other has taken over: it must not write the same clicks again. */
async function pauseWorker(stack: FaultStack, { downMs }: Pace): Promise<void> {
  const [sleeper] = stack.workers as [ServerProcess]
  const successor = await stack.startWorker()
  sleeper.kill('SIGSTOP')
  // Statements already sent to PostgreSQL may still commit.
  await sleep(300)
  const before = await readCounters(stack)
  await waitFor(Date.now() + 30_000, 'the second worker to take over', async () => {
    const now = await readCounters(stack)
    return stack.workspaces.every(({ id }) => (now.byWorkspace.get(id) ?? 0) > (before.byWorkspace.get(id) ?? 0))
  })
  sleeper.kill('SIGCONT')
  await sleep(Math.max(downMs, 2_000))
  stack.workers = [successor]
  await sleeper.stop()
}

function killEngine(name: EngineName) {
  return async ({ engines }: FaultStack, { downMs }: Pick<Pace, 'downMs'>): Promise<void> => {
    engines[name]?.kill('SIGKILL')
    await sleep(downMs)
    await engines[name]?.restart()
  }
}

/** Stops NATS between visits: a message in flight may be stored or not, which would make the count uncertain. */
async function takeNatsBetweenVisits({ engines }: FaultStack, { downMs }: Pace, load: Load): Promise<void> {
  await load.pause()
  await engines.nats?.stop()
  load.resume()
  await sleep(downMs * 2)
  await engines.nats?.restart()
}

/** Pauses Valkey: a slow Valkey is not a failed one, so repeat visits must be detected. */
async function stallValkey({ engines }: FaultStack, { downMs }: Pace): Promise<void> {
  for (let stalls = 0; stalls < 3; stalls++) {
    engines.valkey?.kill('SIGSTOP')
    await sleep(1_000)
    engines.valkey?.kill('SIGCONT')
    await sleep(downMs / 4)
  }
}

async function killLeader({ platform, cluster }: FaultStack, { downMs }: Pace): Promise<void> {
  const manager = await jetstreamManager(platform.nats)
  const { cluster: replicas } = await manager.streams.info(eventStream(0))
  const leader = cluster?.nodes.get(replicas?.leader ?? '')
  if (!leader) throw new Error(`The stream ${eventStream(0)} has no leader among the nodes of the cluster`)
  leader.kill('SIGKILL')
  await sleep(downMs)
  await leader.restart()
}
