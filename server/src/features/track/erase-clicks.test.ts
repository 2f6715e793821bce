import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { buildConversionLink, buildCustomer, buildWorkspace } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { openOwnEngines } from '../../../test/own-database.ts'
import { query } from '../../platform/clickhouse.ts'
import { jetStream } from '../../platform/nats.ts'
import { customersById } from '../customers/service.ts'
import { claim, ingest } from '../ingest/service.ts'
import { clicksSubject } from '../redirect/messages.ts'
import { changeWorkspace } from '../workspaces/service.ts'
import { eraseConversions } from './erase.ts'
import { isTrackedDataLeft } from './service.ts'

const { platform } = await openOwnEngines({ EVENT_PARTITIONS: '1' })

test('a click that is still in the event log when its customer is erased loses its IP address', async () => {
  const { workspace, click: newClick } = await buildConversionLink(platform)
  await changeWorkspace(platform, workspace.id, { ip_storage: 'full' })
  const click = newClick()
  const linkNumber = BigInt(click.linkNumber)
  const { id } = await buildCustomer(platform, workspace, {}, { clickId: click.id, linkNumber })
  const message = await jetStream(platform.nats).publish(clicksSubject(0), JSON.stringify([click]))
  await sql`UPDATE customers SET erased_at = now() WHERE id = ${id}`.execute(platform.db)
  const ctx = contextIn(platform, workspace.id)
  const customer = (await customersById(ctx, [id])).get(id)
  if (!customer) throw new Error('the customer is missing')

  const erased = [{ workspaceId: workspace.id, customerId: id }]
  await expect(eraseConversions(platform, erased)).rejects.toThrow('may still be in the event log')
  expect(await isTrackedDataLeft(ctx, customer)).toBe(true)

  const holder = { partition: 0, owner: 'a worker' }
  const cursor = await claim(platform, holder)
  await ingest(platform, holder, cursor?.sequence ?? 0, [{ sequence: message.seq, body: [click] }])
  expect(await addresses(workspace.id)).toEqual([click.ip])
  expect(await isTrackedDataLeft(ctx, customer)).toBe(true)

  await eraseConversions(platform, erased)
  expect(await addresses(workspace.id)).toEqual(['::'])
  expect(await isTrackedDataLeft(ctx, customer)).toBe(false)
})

test('an erasure does not wait for clicks that arrive long after it', async () => {
  const workspace = await buildWorkspace(platform)
  const { id } = await buildCustomer(platform, workspace)
  await sql`UPDATE customers SET erased_at = now() - interval '1 minute' WHERE id = ${id}`.execute(platform.db)
  await jetStream(platform.nats).publish(clicksSubject(0), '[]')
  await eraseConversions(platform, [{ workspaceId: workspace.id, customerId: id }])
})

async function addresses(workspaceId: string): Promise<string[]> {
  const statement = `SELECT replaceOne(toString(ip), '::ffff:', '') AS address FROM click_events
    WHERE workspace_id = {workspaceId:String}`
  return (await query<{ address: string }>(platform.clickhouse, statement, { workspaceId })).map(
    ({ address }) => address,
  )
}
