import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes, randomInt, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import { expect, inject, test } from 'vitest'
import { createDatabase } from '../engines/postgres.ts'
import { startEngines } from '../engines/start.ts'
import { recordConversion } from '../server/src/features/track/record.ts'
import type { Ctx } from '../server/src/platform/context.ts'
import { newId } from '../server/src/platform/ids.ts'
import { migrate } from '../server/src/platform/migrate.ts'
import { ensureStreams } from '../server/src/platform/nats.ts'
import { transaction } from '../server/src/platform/postgres.ts'
import { buildConversionLink } from '../server/test/build.ts'
import { contextIn } from '../server/test/context.ts'
import { sized } from '../server/test/size.ts'
import { openTestPlatform } from '../server/test/stack.ts'

const sales = sized({ short: 1_600, full: 20_000 })
const writers = 8
const worker = fileURLToPath(new URL('subscriber/worker.ts', import.meta.url))

async function startWorker(environment: Record<string, string>): Promise<ChildProcess> {
  const env = { PATH: process.env.PATH, ...environment }
  const child = spawn(process.execPath, [worker], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  await once(child.stdout, 'data')
  return child
}

/** Records sales of ten cents to two dollars, with some rolled-back transactions. Returns the committed amount. */
async function recordSales(ctx: Ctx, linkNumber: bigint, count: number): Promise<number> {
  let total = 0
  for (let number = 0; number < count; ) {
    const amounts = Array.from({ length: Math.min(20, count - number) }, () => randomInt(10, 200))
    const isRolledBack = Math.random() < 0.05
    const attempt = transaction(ctx, async (ctx) => {
      for (const amount of amounts) await recordConversion(ctx, newSale(ctx, linkNumber, amount))
      if (isRolledBack) throw new Error('rolled back')
    })
    // A terminated connection may have committed before, so the sale counts if it is stored.
    const isCommitted = await attempt.then(
      () => true,
      () => false,
    )
    if (!isCommitted) continue
    number += amounts.length
    total += amounts.reduce((sum, amount) => sum + amount, 0)
  }
  return total
}

function newSale(ctx: Ctx, linkNumber: bigint, amount: number) {
  const [id, now] = [newId('evt'), ctx.now()]
  const owner = { workspace_id: ctx.workspaceId, customer_id: 'cus_1', link_number: linkNumber, click_id: null }
  const sale = { kind: 'sale' as const, event_name: 'Purchase', attribution: 'lead', currency: 'usd', created_at: now }
  return { id, ...owner, ...sale, amount: BigInt(amount) }
}

test('a subscriber handles each sale exactly once while its worker and its connections are killed', async () => {
  await using parts = new AsyncDisposableStack()
  const engines = await startEngines({ only: ['nats'] })
  parts.defer(() => engines.stop())
  const name = `subscriber_${randomUUID().replaceAll('-', '')}`
  const { CLICKHOUSE_URL = '', VALKEY_URL = '', POSTGRES_URL: server = '' } = inject('environment')
  const POSTGRES_URL = await createDatabase(server, name)
  const keys = `1:${randomBytes(32).toString('hex')}`
  const urls = { ...engines.urls, CLICKHOUSE_URL, VALKEY_URL, POSTGRES_URL }
  const environment = {
    ...urls,
    CLICK_ID_KEYS: keys,
    ENCRYPTION_KEYS: keys,
    ENVIRONMENT: 'development',
    ROLES: 'worker',
  }
  const platform = await openTestPlatform(urls)
  await migrate(platform.config, platform.clickhouse, () => {})
  await ensureStreams(platform.nats, platform.config)
  await sql`CREATE TABLE sum_of_sales (sales bigint NOT NULL, amount bigint NOT NULL)`.execute(platform.db)
  await sql`INSERT INTO sum_of_sales VALUES (0, 0)`.execute(platform.db)
  const { workspace } = await buildConversionLink(platform)
  const ctx = contextIn(platform, workspace.id)
  const links = await sql<{ number: bigint }>`SELECT number FROM links`.execute(platform.db)
  const linkNumber = links.rows[0]?.number ?? 0n

  const state = { worker: await startWorker(environment), kills: 0, isOver: false }
  parts.defer(() => void state.worker.kill('SIGKILL'))
  const killing = (async () => {
    while (!state.isOver) {
      await sleep(randomInt(500, 2_000))
      if (state.kills++ % 3 === 2) {
        await sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE datname = current_database() AND pid <> pg_backend_pid()`.execute(platform.db)
      } else {
        state.worker.kill('SIGKILL')
        await once(state.worker, 'exit')
        state.worker = await startWorker(environment)
      }
    }
  })()
  await Promise.all(Array.from({ length: writers }, () => recordSales(ctx, linkNumber, sales / writers)))
  const recorded = await sql<{ sales: bigint; amount: bigint }>`
    SELECT count(*) AS sales, sum(amount)::bigint AS amount FROM conversions WHERE kind = 'sale'`.execute(platform.db)
  expect(Number(recorded.rows[0]?.sales)).toBeGreaterThanOrEqual(sales)
  const read = async () => (await sql<{ sales: bigint }>`SELECT * FROM sum_of_sales`.execute(platform.db)).rows[0]
  const until = Date.now() + 240_000
  while ((await read())?.sales !== recorded.rows[0]?.sales && Date.now() < until) await sleep(500)
  state.isOver = true
  await killing
  // Waits for sales that NATS redelivers after the last kill, which must not count again.
  await sleep(3_000)
  expect(await read()).toEqual(recorded.rows[0])
  console.info(`${recorded.rows[0]?.sales} sales, the worker or its connections killed ${state.kills} times`)
  expect(state.kills).toBeGreaterThan(3)
})
