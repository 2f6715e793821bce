import { createClient } from '@tributary/contract/client'
import { explainEvent, listCommissions } from '@tributary/contract/commissions'
import { listDiscountCodes } from '@tributary/contract/discount-codes'
import { getBalances } from '@tributary/contract/ledger'
import { listPartnerApplications } from '@tributary/contract/partner-applications'
import { listPartners } from '@tributary/contract/partners'
import { expect, inject, test } from 'vitest'
import { fillProgram } from '../demo/program.ts'
import { isSound, verify } from '../server/src/maintenance/verify.ts'
import { buildWorkspace } from '../server/test/build.ts'
import { openTestPlatform } from '../server/test/stack.ts'

const { api } = inject('server')
const platform = await openTestPlatform({ API_URL: api })

test('the sample program has partners with commissions of every kind, and verify finds nothing', async () => {
  const workspace = await buildWorkspace(platform)
  await fillProgram(platform, workspace, workspace.domain)
  await fillProgram(platform, workspace, workspace.domain)
  const call = createClient({ url: api, token: workspace.key })

  const partners = await call(listPartners, { query: { status: 'approved' } })
  const totals = partners.map(({ name, totalClicks, totalLeads, totalSales, totalSaleAmount, totalCommissions }) => {
    return [name, totalClicks, totalLeads, totalSales, totalSaleAmount, totalCommissions]
  })
  expect(totals.sort()).toEqual([
    ['Amara Okafor', 25, 1, 2, 9_800, 1_000],
    ['Harbour Studio', 70, 2, 2, 34_895, 6_499],
    ['Lena Brandt', 45, 2, 1, 4_900, 1_380],
    ['Mateo Rojas', 90, 3, 2, 14_800, 3_060],
    ['Nora Lindqvist', 140, 4, 4, 24_600, 5_520],
    ['North & Co', 50, 2, 2, 24_800, 12_440],
    ['Tom Keller', 20, 2, 1, 9_900, 1_000],
    ['Yuki Tanaka', 60, 2, 2, 24_800, 6_600],
  ])
  expect(new Set(partners.map(({ groupId }) => groupId)).size).toBe(3)
  expect(partners.every(({ tags }) => tags.length === 1)).toBe(true)
  expect((await call(listDiscountCodes)).map(({ code }) => code)).toContain('NORALINDQVIST')
  expect(await call(listPartnerApplications)).toMatchObject([{ partner: { name: 'Inès Moreau', status: 'pending' } }])

  const commissions = await call(listCommissions)
  const byInvoice = new Map(commissions.map((commission) => [commission.invoiceId, commission]))
  expect(byInvoice.get('demo-harbour-2-1')).toMatchObject({ status: 'pending', amount: 4_995, earnings: 1_499 })
  expect(byInvoice.get('demo-lena-2-1')).toMatchObject({ status: 'refunded', amount: 0, earnings: 0 })
  expect(byInvoice.get('demo-nora-1-1')).toMatchObject({ status: 'processed', amount: 4_900, earnings: 980 })
  expect(commissions).toContainEqual(
    expect.objectContaining({ earnings: -500, status: 'processed', description: 'duplicate_commission' }),
  )
  expect(await call(explainEvent, { query: { invoiceId: 'demo-amara-1-2' } })).toMatchObject({ reason: 'window_over' })

  const owed = (status: string) =>
    commissions.filter((each) => each.status === status).reduce((sum, { earnings }) => sum + earnings, 0)
  const { balances } = await call(getBalances)
  expect(balances.map(({ account, balance }) => [account, balance])).toEqual([
    ['Liabilities:Partners:Accrued', -owed('pending')],
    ['Liabilities:Partners:Due', -owed('processed')],
    ['Expenses:Commissions', owed('pending') + owed('processed')],
  ])
  const found = await verify(platform, { workspaceId: workspace.id, repair: false }, () => {})
  expect(isSound(found), JSON.stringify(found)).toBe(true)
})
