import type { EventFilters } from '@tributary/contract/events'
import type { Ctx } from '../../platform/context.ts'
import { invalid, notFound } from '../../platform/errors.ts'
import { linkNumbers } from '../links/service.ts'
import { cutToHistory, type Period, settlePeriod } from './period.ts'
import { type EventFilter, parseFilter, readFilter } from './where.ts'

/**
 * The period and the links that a query asks for. `from` is the begin of the period when a cursor has fixed it before.
 */
export async function narrowed(
  ctx: Ctx,
  query: EventFilters & Pick<EventFilter, 'bots'>,
  from?: number,
): Promise<{ period: Period; filter: EventFilter }> {
  const period = settlePeriod(query, ctx.now())
  if ('problem' in period) throw invalid(`\`${period.problem.field}\` in the query: ${period.problem.message}.`)
  const whole = from === undefined ? period : { ...period, from: new Date(from) }
  const linkNumbers = await namedLinks(ctx, query)
  // The address of a link has named its domain already.
  const domain = query.key ? undefined : query.domain
  return {
    period: withinHistory(ctx, query, whole, from !== undefined),
    filter: { ...query, domain, linkNumbers },
  }
}

/** Refuses a period that begins before the history of the plan; `interval=all` and a cursor get what is left of it. */
function withinHistory(ctx: Ctx, query: EventFilters, period: Period, isCursor: boolean): Period {
  const days = ctx.config.HISTORY_DAYS_BY_PLAN[ctx.plan]
  if (days === undefined) return period
  const hasStart = Boolean(query.start?.trim())
  const first = ctx.now().getTime() - days * dayMs
  // A day of tolerance: the date of the first day, and an interval as long as the history, are never refused.
  if (isCursor || (query.interval === 'all' && !hasStart) || period.from.getTime() >= first - dayMs) {
    return cutToHistory(period, first)
  }
  throw invalid(
    `\`${hasStart ? 'start' : 'interval'}\` in the query begins at ${period.from.toISOString()}, but the ${ctx.plan} plan has ${days} days of history. Begin at ${new Date(first).toISOString()} or later.`,
  )
}

const dayMs = 24 * 3_600_000

async function namedLinks(ctx: Ctx, query: EventFilters): Promise<EventFilter['linkNumbers']> {
  const named: NonNullable<EventFilter['linkNumbers']> = []
  const byId = readFilter('linkId', query.linkId)
  if (byId) named.push({ numbers: await linkNumbers(ctx, { ids: byId.values }), excluded: byId.excluded })
  if (query.externalId) {
    if (!query.externalId.startsWith('ext_')) throw invalid('`externalId` in the query must start with `ext_`.')
    named.push({ numbers: await oneLink(ctx, { externalId: query.externalId }, query.externalId), excluded: false })
  }
  if (query.key) {
    const domain = oneDomain(query.domain)
    const numbers = await oneLink(ctx, { domain, key: query.key }, `${domain}/${query.key}`)
    named.push({ numbers, excluded: false })
  }
  return named
}

function oneDomain(text: string | undefined): string {
  const { values, excluded } = parseFilter(text ?? '')
  const [domain] = values
  if (domain === undefined) throw invalid('`key` in the query must be used together with `domain`.')
  if (excluded || values.length > 1) {
    throw invalid('`domain` in the query must be one domain, not several or an excluded one, when `key` is given.')
  }
  return domain
}

async function oneLink(ctx: Ctx, by: Parameters<typeof linkNumbers>[1], name: string): Promise<bigint[]> {
  const numbers = await linkNumbers(ctx, by)
  if (numbers.length === 0) throw notFound('link', name)
  return numbers
}
