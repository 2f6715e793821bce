import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import type { EngineName } from '../../engines/engine-process.ts'
import type { Platform } from '../../server/src/platform/context.ts'
import { eventStream, jetStream } from '../../server/src/platform/nats.ts'
import { waitFor } from './count.ts'
import type { Fault, Pace } from './faults.ts'
import { type FaultStack, reservedMegabytes } from './stack.ts'

/** Disk size of each database and NATS, in megabytes. */
export const diskSizes: Partial<Record<EngineName, number>> = { postgres: 256, nats: 96, clickhouse: 384, valkey: 16 }
/** Gives each click partition in NATS 6.75 MB. */
export const fullSettings = { EVENT_LOG_MAX_MEGABYTES: '16' }

/** Fills the disk or memory of each database in turn while visits arrive, then frees it; recovery must be automatic. */
export const fullFaults: Fault[] = [
  { name: 'event log in NATS full', happen: fillLog },
  // As in `deploy/nats/start.sh`: a stream whose write failed rejects messages until NATS restarts.
  { name: 'NATS disk full, restarted with space', happen: fillDisk('nats', { restart: true }) },
  { name: 'ClickHouse disk full', happen: fillDisk('clickhouse') },
  { name: 'PostgreSQL disk full', happen: fillDisk('postgres'), isFullOnly: true },
  { name: 'PostgreSQL exits on its full disk', happen: fillDisk('postgres', { kill: true }) },
  { name: 'Valkey memory full', happen: fillValkey, withoutRepeats: true },
]

/** Fills a disk. Databases exit when they can't write, and their supervisor (systemd, Docker, Kubernetes) restarts them. */
function fillDisk(name: 'nats' | 'clickhouse' | 'postgres', { restart = false, kill = false } = {}) {
  return async ({ engines, disks, platform }: FaultStack, { downMs }: Pace): Promise<void> => {
    const [engine, disk] = [engines[name], disks[name]]
    if (!engine || !disk) throw new Error(`${name} has no disk of its own here`)
    const stopping = new AbortController()
    // Not both: two concurrent restarts would start the database twice.
    const watching = restart ? undefined : restartWhenEnded(engine, stopping.signal)
    try {
      if (name === 'clickhouse') {
        await disk.fill(reservedMegabytes / 2)
        await sleep(downMs)
      }
      await disk.fill()
      // Fills the disk twice, because the database frees or has reserved some space.
      for (let count = 0; count < 2; count++) {
        await sleep(downMs)
        await disk.fill()
      }
      await expectRefusal(writes[name](platform), name)
      if (kill) engine.kill('SIGKILL')
    } finally {
      await disk.free()
      if (restart) await engine.restart()
      await sleep(downMs)
      stopping.abort()
      await watching
    }
  }
}

/** Statements that write more than fits into the space the database has reserved. */
const writes = {
  nats: ({ nats }: Platform) => jetStream(nats).publish('changes.0.full-disk', 'x'.repeat(500_000), { timeout: 2_000 }),
  clickhouse: ({ clickhouse }: Platform) =>
    clickhouse.command({
      query: 'CREATE TABLE full_disk ENGINE = MergeTree ORDER BY number AS SELECT number FROM numbers(1e6)',
    }),
  postgres: ({ db }: Platform) =>
    sql`CREATE TABLE full_disk AS SELECT repeat(n::text, 200) FROM generate_series(1, 200000) AS n`.execute(db),
}

async function expectRefusal(write: Promise<unknown>, name: EngineName): Promise<void> {
  const accepted = await write.then(
    () => true,
    () => false,
  )
  if (accepted) throw new Error(`${name} accepted a write on a full disk`)
}

async function restartWhenEnded(engine: NonNullable<FaultStack['engines'][EngineName]>, signal: AbortSignal) {
  const isUp = () => !engine.exited
  while (!signal.aborted || !isUp()) {
    if (!isUp()) await engine.restart().catch(() => {})
    await sleep(200)
  }
}

/** Fills every NATS partition with unread messages: empty arrays, so that only their size matters. */
async function fillLog(stack: FaultStack, { downMs }: Pace): Promise<void> {
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
  await sleep(downMs * 2)
  stack.workers = [await stack.startWorker()]
  const manager = await jetStream(platform.nats).jetstreamManager()
  await waitFor(Date.now() + 60_000, 'NATS to have room again', async () => {
    const { state, config } = await manager.streams.info(eventStream(0))
    return state.bytes < config.max_bytes * 0.85
  })
}

async function fillValkey({ platform }: FaultStack, { downMs }: Pace): Promise<void> {
  await platform.valkey.config('SET', 'maxmemory-policy', 'noeviction')
  await platform.valkey.config('SET', 'maxmemory', '1mb')
  await sleep(downMs * 2)
  await platform.valkey.config('SET', 'maxmemory', '0')
  await sleep(downMs)
}
