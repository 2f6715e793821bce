import { newLead } from '@tributary/contract/track'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { buildConversionLink } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { openOwnDatabase, takeMessages } from '../../../test/own-database.ts'
import { buildWebhook, fanOutConversions } from '../../../test/webhooks.ts'
import { deleteCustomer } from '../customers/service.ts'
import { trackLead } from './leads.ts'
import { conversionRecorded } from './messages.ts'

const platform = await openOwnDatabase()

test('an event of an erased customer does not wait for click facts, which are never saved', async () => {
  const { workspace, click } = await buildConversionLink(platform)
  const ctx = contextIn(platform, workspace.id)
  await buildWebhook(platform, workspace.id, { url: 'https://example.com/', triggers: ['lead.created'] })
  await trackLead(ctx, newLead.parse({ clickId: click().id, eventName: 'Sign up', customerExternalId: 'eve' }))
  await deleteCustomer(ctx, 'ext_eve')
  const leads = (await takeMessages(platform)).flatMap((body) => conversionRecorded.safeParse(body).data ?? [])
  await fanOutConversions(platform, leads)
  const stored = await sql`SELECT waits_for, due_at, body::json -> 'data' -> 'customer' ->> 'name' AS name
    FROM webhook_deliveries d JOIN webhook_events e ON e.workspace_id = d.workspace_id AND e.id = d.event_id`.execute(
    platform.db,
  )
  expect(stored.rows).toEqual([{ waits_for: null, due_at: expect.any(Date), name: 'Deleted customer' }])
})
