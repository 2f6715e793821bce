import { type AnalyticsCount, type AnalyticsRow, retrieveAnalytics as operation } from '@tributary/contract/analytics'
import type { PartnerAnalytics, PartnerAnalyticsQuery } from '@tributary/contract/partner-links'
import type { Ctx } from '../../platform/context.ts'
import { parse } from '../../platform/validation.ts'
import { retrieveAnalytics } from '../analytics/service.ts'
import { requirePartner } from '../partners/service.ts'
import { requireProgram } from '../programs/service.ts'

export async function partnerAnalytics(ctx: Ctx, query: PartnerAnalyticsQuery): Promise<PartnerAnalytics> {
  await requireProgram(ctx)
  const { id } = await requirePartner(ctx, query)
  const { partnerId: _, tenantId: __, ...period } = query
  const given = Object.entries({ ...period, partnerId: id, event: 'composite' }).filter(
    ([, value]) => value !== undefined,
  )
  const answer = await retrieveAnalytics(ctx, parse(operation.query, Object.fromEntries(given), 'query'))
  return Array.isArray(answer) ? (answer.map(withEarnings) as PartnerAnalytics) : withEarnings(answer)
}

function withEarnings<Row extends AnalyticsCount | AnalyticsRow>({ visitors: _, ...row }: Row) {
  return { ...row, earnings: 0 }
}
