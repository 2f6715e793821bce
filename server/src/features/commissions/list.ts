import type { CommissionsQuery, Commission as Presented } from '@tributary/contract/commissions'
import type { Ctx } from '../../platform/context.ts'
import { invalid, notFound } from '../../platform/errors.ts'
import { parseFilterValues, parseMetadata, parsePeriod } from '../events/service.ts'
import { groupsById } from '../groups/service.ts'
import { findPartner, findPartnersById, partnersWhere } from '../partners/service.ts'
import { findPayout } from '../payouts/service.ts'
import { requireProgram } from '../programs/service.ts'
import { type CommissionFilter, selectCommissions, selectCommissionsById } from './list-store.ts'
import { parseCommissionId } from './locked.ts'
import { presentCommissions } from './present.ts'

export async function listCommissions(ctx: Ctx, query: CommissionsQuery): Promise<Presented[]> {
  await requireProgram(ctx)
  if (query.startingAfter && query.endingBefore)
    throw invalid('`startingAfter` and `endingBefore` in the query must not be used together.')
  const backwards = query.endingBefore !== undefined
  const after = await findCursor(ctx, query)
  const filter = await buildFilter(ctx, query)
  if (!filter) return []
  const rows = await selectCommissions(ctx.db, ctx.workspaceId, filter, {
    sort: query.sortBy,
    ascending: (query.sortOrder === 'asc') !== backwards,
    after,
    offset: after === undefined ? Math.min(mostSkipped, (query.page - 1) * query.pageSize) : 0,
    count: query.pageSize,
  })
  return presentCommissions(ctx, backwards ? rows.reverse() : rows)
}

const mostSkipped = 1_000_000

export async function getCommission(ctx: Ctx, id: string): Promise<Presented> {
  await requireProgram(ctx)
  const uuid = parseCommissionId(id)
  const rows = uuid ? await selectCommissionsById(ctx.db, ctx.workspaceId, [uuid]) : []
  const [commission] = await presentCommissions(ctx, rows)
  if (!commission) throw notFound('commission', id)
  return commission
}

async function findCursor(ctx: Ctx, query: CommissionsQuery): Promise<bigint | undefined> {
  const name = query.startingAfter === undefined ? 'endingBefore' : 'startingAfter'
  const id = query[name]
  if (id === undefined) return undefined
  const uuid = parseCommissionId(id)
  const [row] = uuid ? await selectCommissionsById(ctx.db, ctx.workspaceId, [uuid]) : []
  if (!row) throw invalid(`\`${name}\` in the query is ${id}, which is not a commission of this workspace.`)
  return row.number
}

/** Builds the list filter. Undefined when no commission can match. */
async function buildFilter(ctx: Ctx, query: CommissionsQuery): Promise<CommissionFilter | undefined> {
  const { type, status, customerId, invoiceId, payoutId } = query
  const payoutNumber = payoutId === undefined ? undefined : await findPayout(ctx, payoutId)
  if (payoutId !== undefined && payoutNumber === undefined) return undefined
  const partnerNumbers = await findPartners(ctx, query)
  if (partnerNumbers && partnerNumbers.values.length === 0 && !partnerNumbers.excluded) return undefined
  const groups = parseFilterValues('groupId', query.groupId)
  const tagIds = parseFilterValues('partnerTagId', query.partnerTagId)
  const groupNumbers = groups && {
    values: [...(await groupsById(ctx, groups.values)).values()].map(({ number }) => number),
    excluded: groups.excluded,
  }
  const hasPeriod = query.interval !== 'all' || Boolean(query.start?.trim())
  const period = hasPeriod ? parsePeriod(ctx, query) : undefined
  return {
    ...{ type, status, customerId, invoiceId, payoutNumber, partnerNumbers },
    ...(period && { from: period.from, until: period.to }),
    ...((groupNumbers || tagIds) && { partnersFragment: [partnersWhere(ctx, { groupNumbers, tagIds })] }),
    ...(query.query?.trim() && { metadata: parseMetadata(query.query) }),
  }
}

async function findPartners(ctx: Ctx, { partnerId, tenantId }: CommissionsQuery) {
  const named = parseFilterValues('partnerId', partnerId)
  if (named) {
    const found = await findPartnersById(ctx, named.values)
    return { values: [...found.values()].map(({ number }) => number), excluded: named.excluded }
  }
  if (tenantId === undefined) return undefined
  const partner = await findPartner(ctx, { tenantId })
  return { values: partner ? [partner.number] : [], excluded: false }
}
