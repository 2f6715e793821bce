import { retrieveAnalytics } from '@tributary/contract/analytics'
import { createClient } from '@tributary/contract/client'
import { createCommission, listCommissions } from '@tributary/contract/commissions'
import { listEvents } from '@tributary/contract/events'
import { deleteLink } from '@tributary/contract/links'
import { createPartnerLink, retrievePartnerAnalytics } from '@tributary/contract/partner-links'
import { createPartner, mergePartners } from '@tributary/contract/partners'
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

it('the ids of merged partners find the events and commissions of the partner they became', async () => {
  const workspace = await buildWorkspace(platform)
  await buildProgram(platform, workspace)
  const call = createClient({ url: api, token: workspace.key })
  const enrol = (email: string) => call(createPartner, { body: { email } })
  const [source, target] = [await enrol('ann@example.com'), await enrol('bob@example.com')]
  const terms = { event: 'sale' as const, type: 'percentage' as const, amountInPercentage: 10 }
  await call(createReward, { body: { groupId: source.groupId ?? '', ...terms } })
  const sell = async (partnerId: string, externalId: string) => {
    const sale = { amount: 5_000, currency: 'usd', eventName: 'Purchase', paymentProcessor: 'custom' as const }
    await call(createCommission, { body: { type: 'sale', partnerId, customer: { externalId, country: 'DE' }, sale } })
  }
  await sell(source.id, 'c1')
  const { id: linkId } = await call(createPartnerLink, { body: { partnerId: source.id } })
  await call(createCommission, {
    body: { type: 'lead', partnerId: source.id, linkId, customer: { externalId: 'c2', country: 'DE' } },
  })
  await eventually(async () => expect(await call(listCommissions)).toHaveLength(1))
  // A deleted link stays with the merged partner.
  await call(deleteLink, { params: { linkId } })
  await call(mergePartners, { body: { sourcePartnerId: source.id, targetPartnerId: target.id } })
  await sell(target.id, 'c3')
  await eventually(async () => {
    for (const partnerId of [source.id, target.id]) {
      expect(await call(listCommissions, { query: { partnerId } })).toHaveLength(2)
      const query = { partnerId, interval: '7d' as const }
      expect(await call(retrieveAnalytics, { query: { ...query, event: 'composite' } })).toMatchObject({
        leads: 3,
        sales: 2,
      })
      expect(await call(listEvents, { query: { ...query, event: 'leads' } })).toHaveLength(3)
      expect(await call(listEvents, { query: { ...query, partnerId: `-${partnerId}`, event: 'leads' } })).toEqual([])
    }
  })
})
