import { boundedSum } from '@tributary/contract/common'
import type { EarningPartner } from '@tributary/contract/webhooks'
import { type Ctx, hasScope } from '../../platform/context.ts'
import { groupsByNumber } from '../groups/service.ts'
import { type PartnerRow, selectPartnersByNumber } from './store.ts'
import { selectTotals } from './totals-store.ts'

type Reader = Pick<Ctx, 'db' | 'workspaceId'>
export type Summary = Pick<PartnerRow, 'id' | 'name' | 'email' | 'image' | 'country'> & {
  payoutsEnabledAt: string | null
  groupId: string | null
}
export type Earner = EarningPartner

async function summarize(ctx: Reader, numbers: bigint[]): Promise<Map<bigint, Summary>> {
  if (numbers.length === 0) return new Map()
  const partners = await selectPartnersByNumber(ctx.db, ctx.workspaceId, [...new Set(numbers)])
  const groups = await groupsByNumber(
    ctx,
    partners.map((partner) => partner.group_number),
  )
  return new Map(
    partners.map(({ number, id, name, email, image, country, group_number }) => {
      const groupId = groups.get(group_number)?.id ?? null
      return [number, { id, name, email, image, payoutsEnabledAt: null, country, groupId }]
    }),
  )
}

/** Summaries as the actor may see them: without `partners.read`, only ids and name. */
export async function summarizeTo(ctx: Reader & Pick<Ctx, 'actor'>, numbers: bigint[]): Promise<Map<bigint, Summary>> {
  const summaries = await summarize(ctx, numbers)
  if (hasScope(ctx.actor, 'partners.read')) return summaries
  const hidden = { email: null, image: null, country: null }
  return new Map(
    [...summaries].map(([number, { id, name, payoutsEnabledAt, groupId }]) => {
      // A partner that was created without a name has the e-mail address as name.
      return [number, { id, name: name.includes('@') ? id : name, ...hidden, payoutsEnabledAt, groupId }]
    }),
  )
}

export async function summarizeWithTotals(ctx: Reader, numbers: bigint[]): Promise<Map<bigint, Earner>> {
  if (numbers.length === 0) return new Map()
  const summaries = await summarize(ctx, numbers)
  const totals = await selectTotals(ctx.db, ctx.workspaceId, [...summaries.keys()])
  return new Map(
    totals.flatMap(({ partner_number, clicks, leads, conversions, sales, sale_amount, commissions }) => {
      const summary = summaries.get(partner_number)
      const shown = {
        totalClicks: Number(clicks),
        totalLeads: Number(leads),
        totalConversions: Number(conversions),
        totalSales: Number(sales),
        totalSaleAmount: boundedSum(sale_amount),
        totalCommissions: boundedSum(commissions),
      }
      return summary ? [[partner_number, { ...summary, ...shown }] as const] : []
    }),
  )
}
