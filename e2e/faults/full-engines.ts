import { setTimeout as sleep } from 'node:timers/promises'
import type { EngineName } from '../../engines/engine-process.ts'
import { eventStream, jetStream } from '../../server/src/platform/nats.ts'
import { waitFor } from './count.ts'
import type { Fault, Pace } from './faults.ts'
import type { FaultStack } from './stack.ts'

/** The size of each engine's own disk in megabytes. */
export const diskSizes: Partial<Record<EngineName, number>> = { postgres: 256, nats: 96, clickhouse: 384, valkey: 16 }
/** Clicks of each partition then have 6.75 MB. */
export const fullSettings = { EVENT_LOG_MAX_MEGABYTES: '16' }

/** Each engine in turn has no space left while visits come in; then there is space again, and nobody does anything else. */
export const fullFaults: Fault[] = [
  { name: 'event log full', happen: fillLog },
  // A stream that could not write keeps refusing until NATS starts again.
  { name: 'NATS disk full, restarted with space', happen: fillDisk('nats', { restart: true }) },
  { name: 'ClickHouse disk full', happen: fillDisk('clickhouse') },
  { name: 'PostgreSQL disk full', happen: fillDisk('postgres') },
  { name: 'Valkey memory full', happen: fillValkey, withoutRepeats: true },
]

/** Engines end when they can't write, and are started again by whoever watches over them: systemd, Docker, Kubernetes. */
function fillDisk(name: EngineName, { restart = false } = {}) {
  return async ({ engines, disks }: FaultStack, { awayMs }: Pace): Promise<void> => {
    const [engine, disk] = [engines[name], disks[name]]
    if (!engine || !disk) throw new Error(`${name} has no disk of its own here`)
    const stopping = new AbortController()
    const watching = restartWhenEnded(engine, stopping.signal)
    await disk.fill()
    // What an engine deletes or has reserved is used up as well.
    for (let count = 0; count < 2; count++) {
      await sleep(awayMs)
      await disk.fill()
    }
    await disk.free()
    if (restart) await engine.restart()
    await sleep(awayMs)
    stopping.abort()
    await watching
  }
}

async function restartWhenEnded(engine: NonNullable<FaultStack['engines'][EngineName]>, signal: AbortSignal) {
  const isUp = () => !engine.exited
  while (!signal.aborted || !isUp()) {
    if (!isUp()) await engine.restart().catch(() => {})
    await sleep(200)
  }
}

/** Unread messages fill every partition; arrays without clicks, so that only their size counts. */
async function fillLog(stack: FaultStack, { awayMs }: Pace): Promise<void> {
  const { platform } = stack
  stack.workers[0]?.kill('SIGKILL')
  const filler = `[${' '.repeat(200_000)}]`
  for (let partition = 0; partition < platform.config.EVENT_PARTITIONS; partition++) {
    const publish = () => jetStream(platform.nats).publish(`events.${partition}.clicks`, filler)
    while (
      await publish().then(
        () => true,
        () => false,
      )
    );
  }
  await sleep(awayMs * 2)
  stack.workers = [await stack.startWorker()]
  const manager = await jetStream(platform.nats).jetstreamManager()
  await waitFor(Date.now() + 60_000, 'the log to have room again', async () => {
    const { state, config } = await manager.streams.info(eventStream(0))
    return state.bytes < config.max_bytes * 0.85
  })
}

async function fillValkey({ platform }: FaultStack, { awayMs }: Pace): Promise<void> {
  await platform.valkey.config('SET', 'maxmemory-policy', 'noeviction')
  await platform.valkey.config('SET', 'maxmemory', '1mb')
  await sleep(awayMs * 2)
  await platform.valkey.config('SET', 'maxmemory', '0')
  await sleep(awayMs)
}
