import { type AnalyticsRow, retrieveAnalytics as operation } from '@tributary/contract/analytics'
import type { PartnerAnalytics, PartnerAnalyticsQuery } from '@tributary/contract/partner-links'
import type { Ctx } from '../../platform/context.ts'
import { parse } from '../../platform/validation.ts'
import { retrieveAnalytics } from '../analytics/service.ts'
import { partnerEarnings } from '../commissions/service.ts'
import { parsePeriod } from '../events/service.ts'
import { linkNumbersByName } from '../links/service.ts'
import { requirePartner } from '../partners/service.ts'
import { requireProgram } from '../programs/service.ts'

export async function partnerAnalytics(ctx: Ctx, query: PartnerAnalyticsQuery): Promise<PartnerAnalytics> {
  await requireProgram(ctx)
  const { id, number } = await requirePartner(ctx, query)
  const { partnerId: _, tenantId: __, ...asked } = query
  const given = Object.entries({ ...asked, partnerId: id, event: 'composite' }).filter(
    ([, value]) => value !== undefined,
  )
  const answer = await retrieveAnalytics(ctx, parse(operation.query, Object.fromEntries(given), 'query'))
  const period = parsePeriod(ctx, query)
  if (!Array.isArray(answer)) {
    const { visitors: _, ...counts } = answer
    const earnings = await partnerEarnings(ctx, number, period, { kind: 'all' })
    return { ...counts, earnings: earnings.get(0n) ?? 0 }
  }
  const earnings = query.groupBy === 'timeseries' ? await earnByStart(answer) : await earnByLink(answer)
  return answer.map(({ visitors: _, ...row }, index) => ({
    ...row,
    earnings: earnings[index] ?? 0,
  })) as PartnerAnalytics

  async function earnByStart(rows: AnalyticsRow[]): Promise<number[]> {
    const starts = rows.map((row) => new Date(String(row.start)))
    const sums = await partnerEarnings(ctx, number, period, { kind: 'start', starts })
    return rows.map((_, index) => sums.get(BigInt(index)) ?? 0)
  }

  async function earnByLink(rows: AnalyticsRow[]): Promise<number[]> {
    const ids = rows.map((row) => String(row.id))
    const numbers = new Map((await linkNumbersByName(ctx, ids)).map((link) => [link.id, link.number]))
    const sums = await partnerEarnings(ctx, number, period, { kind: 'link', links: [...numbers.values()] })
    return ids.map((id) => sums.get(numbers.get(id) ?? 0n) ?? 0)
  }
}
