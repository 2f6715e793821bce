import { exportEvents as exportContract, type LeadEvent, listEvents as listContract } from '@tributary/contract/events'
import type { Scope } from '@tributary/contract/permissions'
import { expect, test } from 'vitest'
import { buildCustomer, buildLink, buildWorkspace } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { clickRow, leadRow, storeEvents } from '../../../test/events/feed-rows.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { linkNumbers } from '../links/service.ts'
import { exportEvents, listEvents } from './service.ts'

const platform = await openTestPlatform()

test("customers' e-mail addresses and pictures in events need the scope customers.read", async () => {
  const workspace = await buildWorkspace(platform)
  const email = 'ada@example.com'
  const { id } = await buildCustomer(platform, workspace, { externalId: 'ada', email, avatar: 'https://example.com/a' })
  const lead = leadRow({ workspaceId: workspace.id, linkNumber: 0n }, { customer_id: id })
  await storeEvents(platform, { leads: [lead] })
  const read = async (...scopes: Scope[]) => {
    const ctx = { ...contextIn(platform, workspace.id), actor: { kind: 'key' as const, id: 'key', scopes } }
    const { events } = await listEvents(ctx, listContract.query.parse({ event: 'leads', attributed: 'all' }))
    const lines = await exportEvents(
      ctx,
      exportContract.query.parse({ event: 'leads', attributed: 'all', format: 'ndjson' }),
    )
    return { listed: (events[0] as LeadEvent).customer, exported: (await Array.fromAsync(lines)).join('') }
  }
  const hidden = await read('analytics.read')
  expect(hidden.listed).toMatchObject({ id, externalId: 'ada', name: null, email: null, avatar: null })
  expect(hidden.exported).toContain(id)
  expect(hidden.exported).not.toContain(email)
  const shown = await read('analytics.read', 'customers.read')
  expect(shown.listed).toMatchObject({ name: email, email, avatar: 'https://example.com/a' })
  expect(shown.exported).toContain(`"customerEmail":"${email}"`)
})

test('events contain no link password', async () => {
  const workspace = await buildWorkspace(platform)
  const ctx = contextIn(platform, workspace.id)
  const link = await buildLink(platform, workspace, { password: 'hush' })
  const [linkNumber] = await linkNumbers(ctx, { ids: [link.id] })
  await storeEvents(platform, { clicks: [clickRow({ workspaceId: workspace.id, linkNumber: linkNumber as bigint })] })
  const { events } = await listEvents(ctx, listContract.query.parse({ event: 'clicks' }))
  expect(events[0]?.link).toMatchObject({ id: link.id, password: null })
})
