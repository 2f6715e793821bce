import { randomInt, randomUUID } from 'node:crypto'
import { chmod, cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { buildClick, buildLink, buildWorkspace } from '../../../test/build.ts'
import { openOwnEngines } from '../../../test/own-database.ts'
import { eventually } from '../../../test/stack.ts'
import { query } from '../../platform/clickhouse.ts'
import { hashPartition } from '../../platform/ids.ts'
import { jetStream } from '../../platform/nats.ts'
import { clicksSubject, type RawClick } from '../redirect/messages.ts'
import { startIngest } from './jobs.ts'
import { ingestMetrics } from './metrics.ts'
import { claim, ingest } from './service.ts'
import type { Holder } from './store.ts'

const directory = await mkdtemp(join(tmpdir(), 'tributary-back-'))
await chmod(directory, 0o711)
// Registered before the databases, so that this cleanup runs after they stop.
afterAll(() => rm(directory, { recursive: true, force: true }))
const { engines, platform } = await openOwnEngines({ INGEST_INTERVAL_MS: '20' }, directory)

let link: { number: bigint; workspaceId: string; url: string }
let partition: number

beforeEach(async () => {
  const workspace = await buildWorkspace(platform)
  const { id, url } = await buildLink(platform, workspace)
  const result = await sql<{ number: bigint }>`SELECT number FROM links WHERE id = ${id}`.execute(platform.db)
  link = { number: result.rows[0]?.number ?? 0n, workspaceId: workspace.id, url }
  partition = hashPartition(workspace.id, platform.config.EVENT_PARTITIONS)
})

const clicks = (count: number, given: Partial<RawClick> = {}) =>
  Array.from({ length: count }, () => buildClick(platform, link, given))

/** Publishes clicks, with retries, because the NATS connection needs a moment after a restart. */
function publish(clicks: RawClick[]): Promise<unknown> {
  const options = { msgID: randomUUID(), timeout: 1_000 }
  const body = JSON.stringify(clicks)
  return eventually(() => jetStream(platform.nats).publish(clicksSubject(partition), body, options), 20_000)
}

async function startWorker(): Promise<AsyncDisposable> {
  const worker = await startIngest(platform)
  onTestFinished(() => worker[Symbol.asyncDispose]())
  return worker
}

async function stored(): Promise<{ rows: number; counted: number }> {
  const [row] = await query<{ rows: string }>(
    platform.clickhouse,
    'SELECT count() AS rows FROM click_events WHERE workspace_id = {workspaceId:String}',
    { workspaceId: link.workspaceId },
  )
  const counter = await sql<{ clicks: bigint }>`
    SELECT clicks FROM link_counters WHERE link_number = ${link.number}`.execute(platform.db)
  return { rows: Number(row?.rows), counted: Number(counter.rows[0]?.clicks) }
}

const expectStored = (clicks: number) =>
  eventually(async () => expect(await stored()).toEqual({ rows: clicks, counted: clicks }), 20_000)

type State = { sequence: bigint; intent: unknown; stream: string; arrived_at: Date | null; clicks: bigint }

/** Simulates a failover to an older copy of PostgreSQL: restores an earlier cursor and counters. */
async function keepState(): Promise<() => Promise<void>> {
  const result = await sql<State>`SELECT c.sequence, c.intent, c.stream, c.arrived_at, l.clicks
    FROM ingest_cursors c, link_counters l WHERE partition = ${partition} AND link_number = ${link.number}`.execute(
    platform.db,
  )
  const { sequence, intent, stream, arrived_at, clicks } = result.rows[0] as State
  return async () => {
    await sql`UPDATE ingest_cursors SET sequence = ${sequence}, intent = ${JSON.stringify(intent)}::jsonb,
        stream = ${stream}, arrived_at = ${arrived_at}, owner = 'another', leased_until = '-infinity'
      WHERE partition = ${partition}`.execute(platform.db)
    await sql`UPDATE link_counters SET clicks = ${clicks} WHERE link_number = ${link.number}`.execute(platform.db)
  }
}

describe('after PostgreSQL was restored to an older state', () => {
  test('clicks that ClickHouse already has are counted again but not stored again', async () => {
    await startWorker()
    await publish(clicks(1))
    await expectStored(1)
    const goBack = await keepState()
    for (let message = 0; message < 5; message++) {
      await publish(clicks(2))
      await expectStored(3 + message * 2)
    }
    await goBack()
    await expectStored(11)
    await publish(clicks(3))
    await expectStored(14)
  })

  test('clicks are not stored again even if Valkey has lost its data and visitors return', async () => {
    await startWorker()
    const first = clicks(3)
    await publish(first)
    await expectStored(3)
    const goBack = await keepState()
    const later = clicks(4)
    await publish([...later, ...first.map((click) => ({ ...click, at: click.at + 1_000 }))])
    await expectStored(7)
    await goBack()
    await platform.valkey.flushall()
    await expectStored(7)
    await publish(later.map((click) => ({ ...click, at: click.at + 2_000 })))
    await publish(clicks(1))
    await expectStored(8)
  })
})

describe('after the log was restored to an older state', () => {
  test('all new clicks are stored, no click twice', async () => {
    const store = join(directory, 'nats/jetstream')
    const copy = join(directory, 'copy')
    const worker = await startWorker()
    for (let message = 0; message < 3; message++) await publish(clicks(2))
    await expectStored(6)
    await engines.processes.nats?.stop()
    await cp(store, copy, { recursive: true })
    await engines.processes.nats?.restart()
    for (let message = 0; message < 10; message++) await publish(clicks(2))
    await expectStored(26)
    await engines.processes.nats?.stop()
    await rm(store, { recursive: true })
    await cp(copy, store, { recursive: true })
    await engines.processes.nats?.restart()
    // Fewer new clicks than the restored log has lost, so the log still ends before the cursor.
    await publish(clicks(1))
    await expectStored(27)
    for (let message = 0; message < 12; message++) await publish(clicks(2))
    await expectStored(51)
    await worker[Symbol.asyncDispose]()
    const found = await ingestMetrics(platform).logRewinds.get()
    expect(found.values.find(({ labels }) => labels.partition === partition)?.value).toBe(1)
  })

  test('a worker that starts after the log has grown past the cursor again detects the restore', async () => {
    const store = join(directory, 'nats/jetstream')
    const copy = join(directory, 'second-copy')
    const worker = await startWorker()
    await publish(clicks(1))
    await expectStored(1)
    await engines.processes.nats?.stop()
    await cp(store, copy, { recursive: true })
    await engines.processes.nats?.restart()
    for (let message = 0; message < 3; message++) await publish(clicks(1))
    await expectStored(4)
    await worker[Symbol.asyncDispose]()
    await engines.processes.nats?.stop()
    await rm(store, { recursive: true })
    await cp(copy, store, { recursive: true })
    await engines.processes.nats?.restart()
    for (let message = 0; message < 10; message++) await publish(clicks(1))
    await startWorker()
    await expectStored(14)
  })
})

describe('a batch that the spool sends again', () => {
  const hour = 3_600_000
  const message = (sequence: number, body: RawClick[], arrivedAt: number) => ({ sequence, body, arrivedAt })

  async function newHolder(): Promise<Holder> {
    const holder = { partition: randomInt(1_000, 2 ** 31), owner: randomUUID() }
    await claim(platform, holder)
    return holder
  }

  test('is counted once, even hours after it was stored', async () => {
    const holder = await newHolder()
    const at = Date.now() - 5 * hour
    const batch = clicks(4, { at })
    await ingest(platform, holder, 0, [message(1, batch, at + 100)])
    await platform.valkey.flushall()
    const fresh = clicks(1, { at })
    await ingest(platform, holder, 1, [message(2, [...batch, ...fresh], Date.now())])
    await expectStored(5)
  })

  test('is counted once minutes after it was stored, even if Valkey has lost its data', async () => {
    const holder = await newHolder()
    const at = Date.now() - 10 * 60_000
    const batch = clicks(2, { at })
    await ingest(platform, holder, 0, [message(1, batch, at + 100)])
    await platform.valkey.flushall()
    await ingest(platform, holder, 1, [message(2, batch, Date.now())])
    await expectStored(2)
  })
})
