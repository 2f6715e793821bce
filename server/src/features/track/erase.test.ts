import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { expect, inject, test } from 'vitest'
import { buildCustomer, buildWorkspace } from '../../../test/build.ts'
import { eventually, openTestPlatform } from '../../../test/stack.ts'
import { insert, query } from '../../platform/clickhouse.ts'
import { eraseConversions } from './erase.ts'
import { insertConversions } from './record-store.ts'

const platform = await openTestPlatform()
const { api } = inject('server')
const metadata = JSON.stringify({ secret: 'Ada' })

/** Creates a lead and a sale, either exported to ClickHouse or pending. */
async function convert(workspaceId: string, customerId: string, kind: 'lead' | 'sale', isStored: boolean) {
  const at = new Date()
  const [row] = await insertConversions(platform.db, [
    {
      id: `evt_${randomUUID()}`,
      workspace_id: workspaceId,
      kind,
      customer_id: customerId,
      event_name: 'e',
      link_number: null,
      click_id: null,
      attribution: 'no_click',
      metadata,
      created_at: at,
    },
  ])
  if (!isStored) {
    await sql`UPDATE conversions SET batch = ${randomUUID()}, stored_at = NULL, due_at = now() + interval '1 hour'
      WHERE id = ${row?.id}`.execute(platform.db)
    return
  }
  await sql`UPDATE conversions SET batch = ${randomUUID()}, stored_at = now() WHERE id = ${row?.id}`.execute(
    platform.db,
  )
  const event = { workspace_id: workspaceId, id: row?.id, customer_id: customerId, event_name: 'e', metadata }
  await insert(platform.clickhouse, `${kind}_events`, [{ ...event, timestamp: at.getTime(), link_number: 1 }])
}

async function listKeys(workspaceId: string): Promise<string[]> {
  const text = `SELECT customer_id, metadata FROM lead_events WHERE workspace_id = {workspaceId:String}
    UNION ALL SELECT customer_id, metadata FROM sale_events WHERE workspace_id = {workspaceId:String}`
  const rows = await query<{ customer_id: string; metadata: string }>(platform.clickhouse, text, { workspaceId })
  const stored = await sql<{ customer_id: string; metadata: string | null }>`
    SELECT customer_id, metadata FROM conversions WHERE workspace_id = ${workspaceId}`.execute(platform.db)
  return [...rows, ...stored.rows].map(({ customer_id, metadata }) => `${customer_id} ${metadata || 'nothing'}`).sort()
}

test("erasing a customer erases the events' metadata in PostgreSQL and ClickHouse, and keeps the events", async () => {
  const workspace = await buildWorkspace(platform)
  const [erasedPerson, other] = [await buildCustomer(platform, workspace), await buildCustomer(platform, workspace)]
  for (const { id } of [erasedPerson, other]) {
    await convert(workspace.id, id, 'lead', true)
    await convert(workspace.id, id, 'sale', true)
  }
  const response = await fetch(`${api}/customers/${erasedPerson.id}`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${workspace.key}` },
  })
  expect(response.status).toBe(200)
  const expected = [erasedPerson, other].flatMap((customer) =>
    Array.from({ length: 4 }, () => `${customer.id} ${customer === erasedPerson ? 'nothing' : metadata}`),
  )
  await eventually(async () => expect(await listKeys(workspace.id)).toEqual(expected.sort()), 30_000)
  // It waits for clicks of other tests, which share the event log.
  await eventually(() => eraseConversions(platform, [{ workspaceId: workspace.id, customerId: erasedPerson.id }]))
  expect(await listKeys(workspace.id)).toEqual(expected.sort())
})

test('erasing a customer waits for an export batch that was read before', async () => {
  const workspace = await buildWorkspace(platform)
  const { id } = await buildCustomer(platform, workspace)
  await convert(workspace.id, id, 'lead', true)
  await convert(workspace.id, id, 'sale', false)
  const erased = [{ workspaceId: workspace.id, customerId: id }]
  await expect(eraseConversions(platform, erased)).rejects.toThrow('are still being exported to ClickHouse')
  expect(await listKeys(workspace.id)).toEqual([`${id} nothing`, `${id} nothing`, `${id} ${metadata}`])
  await sql`UPDATE conversions SET stored_at = now() WHERE customer_id = ${id}`.execute(platform.db)
  await eraseConversions(platform, erased)
  expect(await listKeys(workspace.id)).toEqual([`${id} nothing`, `${id} nothing`, `${id} nothing`])
})
