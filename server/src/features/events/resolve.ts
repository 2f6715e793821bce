import type { EventFilters } from '@tributary/contract/events'
import type { Ctx } from '../../platform/context.ts'
import { forbidden, notFound } from '../../platform/errors.ts'
import { hiddenFolders } from '../folders/service.ts'
import { linkNumbers } from '../links/service.ts'
import { partnerAliases } from '../partners/service.ts'
import { type EventFilter, type FilterQuery, parseFilter } from './filter.ts'
import { type Period, readPeriod } from './period.ts'

/** `isOpen` when the period has everything until now. */
export type Resolved = { period: Period & { isOpen: boolean }; filter: EventFilter }

const mostHidden = 2_000

/** Resolves a query's period, filters, links and merged partners. `from` is the start of the period in a cursor. */
export async function resolve(ctx: Ctx, query: EventFilters & FilterQuery, from?: number): Promise<Resolved> {
  const history = { plan: ctx.plan, days: ctx.config.HISTORY_DAYS_BY_PLAN[ctx.plan] }
  const now = ctx.now()
  const period = readPeriod(query, now, history, from)
  const { filter, links } = parseFilter(query)
  const named: NonNullable<EventFilter['linkNumbers']> = []
  for (const { by, excluded, name } of links) {
    const numbers = await linkNumbers(ctx, by)
    if (name !== undefined && numbers.length === 0) throw notFound('link', name)
    named.push({ numbers, excluded })
  }
  const partners = filter.lists?.partnerId
  const lists = partners
    ? { ...filter.lists, partnerId: { ...partners, values: await partnerAliases(ctx, partners.values) } }
    : filter.lists
  const readable = { ...filter, lists, linkNumbers: named, hiddenFolders: listHidden(ctx) }
  return { period: { ...period, isOpen: period.to > now }, filter: readable }
}

/** The folders to exclude. ClickHouse takes up to 256 kB of values in a statement, so there is a limit. */
function listHidden(ctx: Ctx): string[] {
  const hidden = hiddenFolders(ctx)
  if (hidden.length <= mostHidden) return hidden
  throw forbidden(
    `You may not read ${hidden.length} folders of this workspace; events and analytics can leave out at most ${mostHidden}. Ask an owner to give you read access to more of them with \`PATCH /members/{userId}\`, or to raise the folders' access level.`,
  )
}
