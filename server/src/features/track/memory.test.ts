import { randomUUID } from 'node:crypto'
import { newLead } from '@tributary/contract/track'
import { sql } from 'kysely'
import { afterAll, expect, inject, test, vi } from 'vitest'
import { startEngines } from '../../../../engines/start.ts'
import { buildConversionLink } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { openOwnDatabase } from '../../../test/own-database.ts'
import { type ServerProcess, startServer } from '../../../test/server-process.ts'
import { eventually, openTestPlatform } from '../../../test/stack.ts'
import { type ConversionFinding, reconcileConversions } from '../../maintenance/conversions.ts'
import { rebuildConversions } from '../../maintenance/rebuild.ts'
import { query } from '../../platform/clickhouse.ts'
import { ensureStreams } from '../../platform/nats.ts'
import { claim, ingest } from '../ingest/service.ts'
import { trackLead } from './leads.ts'

vi.setConfig({ testTimeout: 900_000, hookTimeout: 60_000 })
const name = `memory_${randomUUID().replaceAll('-', '')}`
const engines = await startEngines({ only: ['nats', 'valkey'] })
const shared = await openTestPlatform()
await shared.clickhouse.command({ query: `CREATE DATABASE ${name}` })
const CLICKHOUSE_URL = new URL(`/${name}`, inject('environment').CLICKHOUSE_URL).href
const platform = await openOwnDatabase({ ...engines.urls, CLICKHOUSE_URL })
await ensureStreams(platform.nats, platform.config)
afterAll(() => engines.stop())

const leads = 700
const quantity = 100
const metadata = { text: 'x'.repeat(9_900) }

/** Starts a worker process with the default settings. */
function startWorker(): Promise<ServerProcess> {
  return startServer({
    ...inject('environment'),
    ...engines.urls,
    CLICKHOUSE_URL,
    POSTGRES_URL: platform.config.POSTGRES_URL,
    ROLES: 'worker',
    NODE_OPTIONS: '--max-semi-space-size=16 --max-old-space-size=512',
  })
}

test('700 leads of the maximum size crash no worker and are stored exactly, even in one interrupted batch', async () => {
  const { workspace, click } = await buildConversionLink(platform)
  const ctx = contextIn(platform, workspace.id)
  const visit = click({ at: Date.now() - 1_000 })
  await claim(platform, { partition: 0, owner: 'test' })
  await ingest(platform, { partition: 0, owner: 'test' }, 0, [{ sequence: 1, body: [visit] }])
  await sql`UPDATE ingest_cursors SET owner = NULL, leased_until = '-infinity', sequence = 0`.execute(platform.db)
  for (let index = 0; index < leads; index++) {
    const lead = { clickId: visit.id, eventName: 'Sign up', customerExternalId: `customer-${index}` }
    await trackLead(ctx, newLead.parse({ ...lead, eventQuantity: quantity, metadata }))
  }
  // The state that an earlier release could leave: many large leads in one batch, whose worker has died.
  await sql`UPDATE conversions SET batch = ${randomUUID()}, due_at = now() - interval '1 second'
    WHERE workspace_id = ${workspace.id} AND number % 8 = 0`.execute(platform.db)

  const worker = await startWorker()
  try {
    await eventually(async () => {
      const left = await sql<{ count: bigint }>`
        SELECT count(*) FROM conversions WHERE stored_at IS NULL`.execute(platform.db)
      expect(left.rows, worker.log.slice(-20).join('\n')).toEqual([{ count: 0n }])
    }, 600_000)
  } finally {
    expect(await worker.stop()).toBe(0)
  }

  const [stored] = await query<Record<'rows' | 'ids' | 'bytes', string>>(
    platform.clickhouse,
    `SELECT toString(count()) AS rows, toString(uniqExact(id)) AS ids, toString(min(length(metadata))) AS bytes
     FROM lead_events WHERE workspace_id = {workspaceId:String}`,
    { workspaceId: workspace.id },
  )
  const rows = String(leads * quantity)
  expect(stored).toEqual({ rows, ids: rows, bytes: String(JSON.stringify(metadata).length) })
  const findings: ConversionFinding[] = []
  for await (const step of reconcileConversions(platform, {})) findings.push(...step.findings)
  expect(findings).toEqual([])

  await platform.clickhouse.command({
    query: `ALTER TABLE lead_events DELETE WHERE workspace_id = {workspaceId:String} AND id NOT LIKE '%\\_%\\_%' SETTINGS mutations_sync = 2`,
    query_params: { workspaceId: workspace.id },
  })
  const before = process.memoryUsage().heapUsed
  let most = 0
  const rebuilt = await rebuildConversions(platform, () => {
    most = Math.max(most, process.memoryUsage().heapUsed - before)
  })
  expect(rebuilt).toMatchObject({ conversions: leads, conversionsAdded: leads, unrepaired: 0 })
  expect(most).toBeLessThan(200e6)
})
