import { createClient } from '@tributary/contract/client'
import { createCommission } from '@tributary/contract/commissions'
import { retrievePartnerAnalytics } from '@tributary/contract/partner-links'
import { createPartner } from '@tributary/contract/partners'
import { createReward } from '@tributary/contract/rewards'
import { expect, inject, it } from 'vitest'
import { buildProgram, buildWorkspace } from '../../../test/build.ts'
import { eventually, openTestPlatform } from '../../../test/stack.ts'

const platform = await openTestPlatform()
const { api } = inject('server')

it('counts what a partner earned in the period, in total, over time and by link', async () => {
  const workspace = await buildWorkspace(platform)
  await buildProgram(platform, workspace)
  const call = createClient({ url: api, token: workspace.key })
  const partner = await call(createPartner, { body: { email: 'ann@example.com' } })
  const { id: partnerId, groupId } = partner
  const terms = { event: 'sale' as const, type: 'percentage' as const, amountInPercentage: 10 }
  await call(createReward, { body: { groupId: groupId ?? '', ...terms } })
  await call(createCommission, { body: { type: 'custom', partnerId, amount: 700 } })
  const customer = { externalId: 'c1', country: 'DE' }
  const sale = { amount: 5_000, currency: 'usd', eventName: 'Purchase', paymentProcessor: 'custom' as const }
  await call(createCommission, { body: { type: 'sale', partnerId, customer, sale } })
  const read = (groupBy: 'count' | 'timeseries' | 'top_links') =>
    call(retrievePartnerAnalytics, { query: { partnerId, groupBy, interval: '7d' } })
  await eventually(async () => {
    expect(await read('count')).toMatchObject({ earnings: 1_200 })
    expect(await read('top_links')).toMatchObject([{ id: partner.links?.[0]?.id, earnings: 500 }])
  })
  const series = (await read('timeseries')) as { earnings: number }[]
  expect(series.map((row) => row.earnings).filter((earnings) => earnings > 0)).toEqual([1_200])
  const other = await call(createPartner, { body: { email: 'bob@example.com' } })
  const none = await call(retrievePartnerAnalytics, { query: { partnerId: other.id } })
  expect(none).toEqual({ clicks: 0, leads: 0, sales: 0, saleAmount: 0, earnings: 0 })
})
