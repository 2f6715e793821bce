import type { BulkPartnerResult, BulkPartners } from '@tributary/contract/partners'
import { chunks } from '../../platform/batches.ts'
import type { Ctx } from '../../platform/context.ts'
import { AppError, badRequest, invalid, notFound } from '../../platform/errors.ts'
import { savepoint, transaction } from '../../platform/postgres.ts'
import { recordGrouped } from '../audit/service.ts'
import { requireGroup } from '../groups/service.ts'
import { type BriefPartner, findPartnersById } from '../partners/service.ts'
import { requireProgram } from '../programs/service.ts'
import { addToGroup } from './groups.ts'
import type { MoneyEffects } from './money.ts'
import {
  approvePartner,
  archivePartner,
  banPartner,
  deactivatePartner,
  reactivatePartner,
  refusal,
  rejectPartner,
  transitions,
  unbanPartner,
} from './transitions.ts'

/** Partners that one transaction changes: a bulk call must not lock a thousand of them, with their money, until its end. */
const partnersAtOnce = 50
const mostInOneTransaction = 100

/**
 * Applies one action to partners in ascending order, some in each transaction, which has its own audit entry. An error
 * undoes the changes of its partner only. Returns a result for each id.
 */
export async function changePartners(ctx: Ctx, money: MoneyEffects, input: BulkPartners): Promise<BulkPartnerResult[]> {
  await requireProgram(ctx)
  if (input.action === 'ban' && input.reason === undefined)
    throw badRequest('`reason` in the body is required for the action `ban`.')
  if (input.action === 'move' && input.groupId === undefined)
    throw badRequest('`groupId` in the body is required for the action `move`.')
  if (input.groupId !== undefined) await requireGroup(ctx, input.groupId)
  const ids = [...new Set(input.partnerIds)]
  requireFew(ctx, input, ids)
  const found = await findPartnersById(ctx, ids)
  const errors = new Map<string, AppError>()
  const known = ids.filter((id) => found.has(id)).sort((one, other) => compareNumbers(found, one, other))
  for (const some of chunks(known, partnersAtOnce)) {
    const refused = input.dryRun
      ? some.map((id) => [id, predictRefusal(found.get(id) as BriefPartner, input)] as const)
      : await changeSome(ctx, money, { ...input, partnerIds: some }, found)
    for (const [id, error] of refused) if (error) errors.set(id, error)
  }
  const after = input.dryRun ? found : await findPartnersById(ctx, ids)
  return ids.map((partnerId) => {
    const error = found.has(partnerId) ? errors.get(partnerId) : notFound('partner', partnerId)
    const status = after.get(partnerId)?.status ?? null
    const reached = error || !input.dryRun || input.action === 'move' ? status : transitions[input.action].to
    return { partnerId, status: reached, error: error ? { code: error.code, message: error.message } : null }
  })
}

/** The answer to an `Idempotency-Key` is stored in the transaction of all changes, so there can only be few. */
function requireFew({ db }: Ctx, { dryRun }: BulkPartners, ids: string[]): void {
  if (dryRun || !db.isTransaction || ids.length <= mostInOneTransaction) return
  throw invalid(
    `\`partnerIds\` in the body has ${ids.length} ids, above the limit of ${mostInOneTransaction} for a request with an \`Idempotency-Key\`. Divide it, or send it without the header.`,
  )
}

type Refused = readonly (readonly [string, AppError | undefined])[]

/** Changes some partners and records the change, in one transaction. Returns each id with its error. */
async function changeSome(
  ctx: Ctx,
  money: MoneyEffects,
  input: BulkPartners,
  found: Map<string, BriefPartner>,
): Promise<Refused> {
  const refused = await transaction(ctx, async (ctx) => {
    const part = { ...ctx, ...(ctx.record && { record: { ...ctx.record, changes: [] } }) }
    const results: [string, AppError | undefined][] = []
    for (const id of input.partnerIds)
      results.push([id, await attempt(part, (ctx) => apply(ctx, money, (found.get(id) as BriefPartner).id, input))])
    const result = input.partnerIds.map((partnerId) => ({ partnerId }))
    await recordGrouped(part, [{ ctx: part, performed: { body: input, result } }])
    return results
  })
  if (ctx.record) ctx.record.isWritten = true
  return refused
}

function compareNumbers(found: Map<string, BriefPartner>, one: string, other: string): number {
  return Number((found.get(one)?.number ?? 0n) - (found.get(other)?.number ?? 0n))
}

function predictRefusal(partner: BriefPartner, { action }: BulkPartners): AppError | undefined {
  if (action === 'move') return undefined
  const from: readonly string[] = transitions[action].from
  return from.includes(partner.status) ? undefined : refusal(partner, action)
}

async function apply(ctx: Ctx, money: MoneyEffects, partnerId: string, input: BulkPartners): Promise<unknown> {
  const { action, groupId, reason, rejectionReason, rejectionNote } = input
  switch (action) {
    case 'approve':
      return approvePartner(ctx, { partnerId, groupId })
    case 'reject':
      return rejectPartner(ctx, { partnerId, rejectionReason, rejectionNote, reapplicationTimeframe: 'standard' })
    case 'ban':
      return banPartner(ctx, money, { partnerId, reason: reason ?? 'tos_violation' })
    case 'unban':
      return unbanPartner(ctx, money, { partnerId })
    case 'deactivate':
      return deactivatePartner(ctx, { partnerId })
    case 'reactivate':
      return reactivatePartner(ctx, { partnerId })
    case 'archive':
      return archivePartner(ctx, { partnerId, archived: true })
    case 'move':
      return addToGroup(ctx, groupId ?? '', [partnerId])
  }
}

/** Runs one item; an error undoes its writes only, and is returned. */
async function attempt(ctx: Ctx, work: (ctx: Ctx) => Promise<unknown>): Promise<AppError | undefined> {
  const reported = ctx.record?.changes.length ?? 0
  try {
    await savepoint(ctx, work)
    return undefined
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    ctx.record?.changes.splice(reported)
    return error
  }
}
