import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { clicksSubject, type RawClick } from '../server/src/features/redirect/messages.ts'
import { chunks } from '../server/src/platform/batches.ts'
import { sleep } from '../server/src/platform/clock.ts'
import { openPublisher } from '../server/src/platform/nats.ts'
import { startServer } from '../server/test/server-process.ts'
import { readCpuMs } from './cpu.ts'
import type { Bench } from './stack.ts'

export const clicksInMessage = 100

export type Ingested = {
  perSecond: number
  /** CPU time for a click, in microseconds. */
  workerCpu: number
  clickHouseCpu: number
}

/**
 * Fills a partition of the log, then starts a worker and measures how it stores the clicks. The clock starts with the first
 * stored batch, to exclude the worker's start.
 */
export async function ingestAll(
  { engines, platform, environment }: Bench,
  partition: number,
  messages: RawClick[][],
): Promise<Ingested> {
  await platform.valkey.flushall()
  const before = await readStored()
  using publisher = openPublisher(platform.nats, 30_000)
  const subject = clicksSubject(partition)
  for (const some of chunks(messages, 50))
    await Promise.all(some.map((body) => publisher.publish({ subject, id: randomUUID(), body: JSON.stringify(body) })))
  const worker = await startServer({ ...environment, ROLES: 'worker' })
  const clickHouse = engines.processes.clickhouse?.pid ?? 0
  const readCpu = () => ({ worker: readCpuMs(worker.pid), clickHouse: readCpuMs(clickHouse) })
  try {
    let first: { sequence: number; at: number; cpu: ReturnType<typeof readCpu> } | undefined
    for (;;) {
      const sequence = await readStored()
      const at = performance.now()
      if (sequence > before && !first) first = { sequence, at, cpu: readCpu() }
      if (first && sequence >= before + messages.length) {
        const clicks = (sequence - first.sequence) * clicksInMessage
        const cpu = readCpu()
        return {
          perSecond: Math.round(clicks / ((at - first.at) / 1000)),
          workerCpu: ((cpu.worker - first.cpu.worker) * 1000) / clicks,
          clickHouseCpu: ((cpu.clickHouse - first.cpu.clickHouse) * 1000) / clicks,
        }
      }
      await sleep(20)
    }
  } finally {
    await worker.stop()
  }

  async function readStored(): Promise<number> {
    const found = await sql<{ sequence: bigint }>`
      SELECT sequence FROM ingest_cursors WHERE partition = ${partition}`.execute(platform.db)
    return Number(found.rows[0]?.sequence ?? 0)
  }
}
