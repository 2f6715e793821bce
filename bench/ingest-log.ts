import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { openClickBody } from '../server/src/features/redirect/click-body.ts'
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
 * Lets a worker wait while the log is filled, then measures how it stores the clicks: a worker that starts behind a full
 * log would first look up each click in ClickHouse. The clock starts with the first stored batch.
 */
export async function ingestAll(
  { engines, platform, environment }: Pick<Bench, 'engines' | 'platform' | 'environment'>,
  partition: number,
  [first, ...messages]: RawClick[][],
): Promise<Ingested> {
  await platform.valkey.flushall('ASYNC')
  const worker = await startServer({ ...environment, ROLES: 'worker' })
  using publisher = openPublisher(platform.nats, 30_000)
  const subject = clicksSubject(partition)
  const publish = (clicks: RawClick[] = []) => {
    const body = openClickBody(platform.config.CLICK_LOG_FORMAT)
    for (const click of clicks) body.add(click)
    return publisher.publish({ subject, id: randomUUID(), body: body.finish() })
  }
  const started = await readStored()
  await publish(first)
  while ((await readStored()) === started) await sleep(20)
  worker.kill('SIGSTOP')
  const before = await readStored()
  for (const some of chunks(messages, 50)) await Promise.all(some.map(publish))
  worker.kill('SIGCONT')
  const clickHouse = engines.processes.clickhouse?.pid ?? 0
  const readCpu = () => ({ worker: readCpuMs(worker.pid), clickHouse: readCpuMs(clickHouse) })
  try {
    let begun: { sequence: number; at: number; cpu: ReturnType<typeof readCpu> } | undefined
    for (;;) {
      const sequence = await readStored()
      const at = performance.now()
      if (sequence > before && !begun) begun = { sequence, at, cpu: readCpu() }
      if (begun && sequence >= before + messages.length) {
        const clicks = (sequence - begun.sequence) * clicksInMessage
        const cpu = readCpu()
        return {
          perSecond: Math.round(clicks / ((at - begun.at) / 1000)),
          workerCpu: ((cpu.worker - begun.cpu.worker) * 1000) / clicks,
          clickHouseCpu: ((cpu.clickHouse - begun.cpu.clickHouse) * 1000) / clicks,
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
