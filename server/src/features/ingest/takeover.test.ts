import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { buildClick, buildLink, buildWorkspace } from '../../../test/build.ts'
import { openOwnEngines } from '../../../test/own-database.ts'
import { type ServerProcess, startServer } from '../../../test/server-process.ts'
import { eventually } from '../../../test/stack.ts'
import { query } from '../../platform/clickhouse.ts'
import { jetStream } from '../../platform/nats.ts'
import { clicksSubject } from '../redirect/messages.ts'
import { advanceCursor, claimPartition, limitPause } from './store.ts'

vi.setConfig({ testTimeout: 120_000 })

const { environment, platform } = await openOwnEngines({ EVENT_PARTITIONS: '1' })

// A lease ends 6 s after its last renewal and standbys check every second; the slack is for a busy machine.
const takeOverWithinMs = 10_000
const slackMs = 20_000

let link: { number: bigint; workspaceId: string; url: string }
let workers: ServerProcess[]
let sent: number

beforeEach(async () => {
  const workspace = await buildWorkspace(platform)
  const { id, url } = await buildLink(platform, workspace)
  const result = await sql<{ number: bigint }>`SELECT number FROM links WHERE id = ${id}`.execute(platform.db)
  link = { number: result.rows[0]?.number ?? 0n, workspaceId: workspace.id, url }
  workers = []
  sent = 0
})

afterEach(async () => {
  for (const worker of workers) worker.kill('SIGCONT')
  await Promise.all(workers.map((worker) => worker.stop()))
})

async function startTwo(): Promise<[ServerProcess, ServerProcess]> {
  const first = await startServer({ ...environment, ROLES: 'worker' })
  workers.push(first)
  await eventually(async () => expect(await isOwner(first)).toBe(true), slackMs)
  const second = await startServer({ ...environment, ROLES: 'worker' })
  workers.push(second)
  return [first, second]
}

test('a standby worker takes over when the owner is killed', async () => {
  const [first, second] = await startTwo()
  await using load = startLoad()
  await eventually(async () => expect((await stored()).rows).toBeGreaterThan(20))
  expect(await isOwner(second)).toBe(false)
  first.kill('SIGKILL')
  const killedAt = Date.now()
  const { rows } = await storedWhenIdle()
  await eventually(async () => expect((await stored()).rows).toBeGreaterThan(rows), takeOverWithinMs + slackMs)
  console.info(`The second worker stores ${Date.now() - killedAt} ms after the first was killed`)
  await load.stop()
  await expectAllOnce()
  await eventually(async () => expect(await isOwner(second)).toBe(true))
})

test('a worker that was suspended during a takeover stores no click twice, and becomes a standby', async () => {
  const [first, second] = await startTwo()
  await using load = startLoad()
  await eventually(async () => expect((await stored()).rows).toBeGreaterThan(20))
  first.kill('SIGSTOP')
  await eventually(async () => expect(await isOwner(second)).toBe(true), takeOverWithinMs + slackMs)
  const { rows } = await stored()
  await eventually(async () => expect((await stored()).rows).toBeGreaterThan(rows))
  first.kill('SIGCONT')
  await eventually(async () => expect(await isOwner(first)).toBe(false), slackMs)
  await load.stop()
  await expectAllOnce()
  await eventually(async () => expect(await isOwner(second)).toBe(true))
})

test('a worker that is suspended inside a transaction does not block the worker that takes over', async () => {
  const [sleeping, waking] = [
    { partition: 7, owner: randomUUID() },
    { partition: 7, owner: randomUUID() },
  ]
  await claimPartition(platform.db, sleeping)
  const awake = Promise.withResolvers<void>()
  const transaction = platform.db.transaction().execute(async (db) => {
    await limitPause(db)
    await advanceCursor(db, sleeping, 0, 5)
    await awake.promise
    await advanceCursor(db, sleeping, 5, 6)
  })
  const outcome = expect(transaction).rejects.toThrow()
  await eventually(async () => {
    const cursor = await claimPartition(platform.db, waking)
    expect(cursor).toEqual({ sequence: 0, intent: null, stream: '', arrivedAt: null })
  }, takeOverWithinMs + slackMs)
  awake.resolve()
  await outcome
})

/** Publishes clicks of different visitors until stopped. */
function startLoad() {
  const stopping = new AbortController()
  const stream = jetStream(platform.nats)
  const running = (async () => {
    while (!stopping.signal.aborted) {
      const clicks = [buildClick(platform, link), buildClick(platform, link)]
      await stream.publish(clicksSubject(0), JSON.stringify(clicks))
      sent += clicks.length
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  })()
  const stop = async () => {
    stopping.abort()
    await running
  }
  return { stop, [Symbol.asyncDispose]: stop }
}

/** A ClickHouse insert that the killed worker had sent may still be running. */
async function storedWhenIdle() {
  for (;;) {
    const before = await stored()
    await new Promise((resolve) => setTimeout(resolve, 500))
    if ((await stored()).rows === before.rows) return before
  }
}

async function expectAllOnce(): Promise<void> {
  await eventually(async () => expect(await stored()).toEqual({ rows: sent, ids: sent, counted: sent }), slackMs)
}

async function stored(): Promise<{ rows: number; ids: number; counted: number }> {
  const [row] = await query<{ rows: string; ids: string }>(
    platform.clickhouse,
    'SELECT count() AS rows, uniqExact(id) AS ids FROM click_events WHERE workspace_id = {workspaceId:String}',
    { workspaceId: link.workspaceId },
  )
  const counter = await sql<{ clicks: bigint }>`
    SELECT clicks FROM link_counters WHERE link_number = ${link.number}`.execute(platform.db)
  return { rows: Number(row?.rows), ids: Number(row?.ids), counted: Number(counter.rows[0]?.clicks) }
}

async function isOwner({ ops }: ServerProcess): Promise<boolean> {
  const response = await fetch(`${ops}/readyz`)
  const { partitions } = (await response.json()) as { partitions: Record<string, { owned: boolean }> }
  return partitions['0']?.owned ?? false
}
