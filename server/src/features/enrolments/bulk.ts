import type { BulkPartnerResult, BulkPartners } from '@tributary/contract/partners'
import type { Ctx } from '../../platform/context.ts'
import { AppError, badRequest, notFound } from '../../platform/errors.ts'
import { savepoint } from '../../platform/postgres.ts'
import { requireGroup } from '../groups/service.ts'
import { findPartnersById, type Partner } from '../partners/service.ts'
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

/** Applies one action to partners, each in its own transaction, in ascending order. Returns a result for each id. */
export async function changePartners(ctx: Ctx, money: MoneyEffects, input: BulkPartners): Promise<BulkPartnerResult[]> {
  await requireProgram(ctx)
  if (input.action === 'ban' && input.reason === undefined)
    throw badRequest('`reason` in the body is required for the action `ban`.')
  if (input.action === 'move' && input.groupId === undefined)
    throw badRequest('`groupId` in the body is required for the action `move`.')
  if (input.groupId !== undefined) await requireGroup(ctx, input.groupId)
  const ids = [...new Set(input.partnerIds)]
  const found = await findPartnersById(ctx, ids)
  const errors = new Map<string, AppError>()
  const known = ids.filter((id) => found.has(id)).sort((one, other) => compareNumbers(found, one, other))
  for (const id of known) {
    const partner = found.get(id) as Partner
    const error = input.dryRun
      ? predictRefusal(partner, input)
      : await attempt(ctx, () => apply(ctx, money, partner.id, input))
    if (error) errors.set(id, error)
  }
  const after = input.dryRun ? found : await findPartnersById(ctx, ids)
  return ids.map((partnerId) => {
    const error = found.has(partnerId) ? errors.get(partnerId) : notFound('partner', partnerId)
    const status = after.get(partnerId)?.status ?? null
    const reached = error || !input.dryRun || input.action === 'move' ? status : transitions[input.action].to
    return { partnerId, status: reached, error: error ? { code: error.code, message: error.message } : null }
  })
}

function compareNumbers(found: Map<string, Partner>, one: string, other: string): number {
  return Number((found.get(one)?.number ?? 0n) - (found.get(other)?.number ?? 0n))
}

function predictRefusal(partner: Partner, { action }: BulkPartners): AppError | undefined {
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
async function attempt(ctx: Ctx, work: () => Promise<unknown>): Promise<AppError | undefined> {
  try {
    if (ctx.db.isTransaction) await savepoint(ctx, work)
    else await work()
    return undefined
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
}
