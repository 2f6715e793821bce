import type { ApplicationRejection } from '@tributary/contract/partner-applications'
import type { banReasons } from '@tributary/contract/partners'
import type { Ctx } from '../../platform/context.ts'
import { badRequest, notFound } from '../../platform/errors.ts'
import { transaction } from '../../platform/postgres.ts'
import { reportChange } from '../../platform/recording.ts'
import { disablePartnerCodes, enablePartnerCodes } from '../discount-codes/service.ts'
import { groupsByNumber, requireGroup } from '../groups/service.ts'
import { disableLinks, enableLinks } from '../links/service.ts'
import {
  changePartner,
  disabledTimes,
  lockPartners,
  type Partner,
  type PartnerName,
  type ProfileColumns,
  publishUpdates,
  recordActivities,
  requirePartner,
  type Status,
} from '../partners/service.ts'
import { requireProgram } from '../programs/service.ts'
import { ensureDefaultLinks, requireLinkTarget } from './default-links.ts'
import { moveToGroup } from './groups.ts'
import type { MoneyEffects } from './money.ts'
import { presentPartner } from './present.ts'
import { publishPartner } from './publish.ts'

type Result = { partnerId: string }
const dayMs = 86_400_000
const reapplyDays = 30

/** A change of status: from which, to which, and how a refusal names it. */
export const transitions = {
  approve: { from: ['pending', 'rejected'], to: 'approved', done: 'approved' },
  reject: { from: ['pending'], to: 'rejected', done: 'rejected' },
  ban: {
    from: ['approved', 'rejected', 'invited', 'declined', 'deactivated', 'archived'],
    to: 'banned',
    done: 'banned',
  },
  unban: { from: ['banned'], to: 'approved', done: 'unbanned' },
  deactivate: { from: ['approved', 'archived'], to: 'deactivated', done: 'deactivated' },
  reactivate: { from: ['deactivated'], to: 'approved', done: 'reactivated' },
  archive: { from: ['approved'], to: 'archived', done: 'archived' },
  unarchive: { from: ['archived'], to: 'approved', done: 'restored' },
  accept: { from: ['invited'], to: 'approved', done: 'approved by accepting the invite' },
  decline: { from: ['invited'], to: 'declined', done: 'declined' },
} as const satisfies Record<string, { from: readonly Status[]; to: Status; done: string }>
export type Transition = keyof typeof transitions

export function refusal({ id, status }: Pick<Partner, 'id' | 'status'>, transition: Transition) {
  const { from, done } = transitions[transition]
  return badRequest(`The partner ${id} is ${status}. Only partners that are ${from.join(' or ')} can be ${done}.`)
}

/** Locks a partner and changes its status with an activity, in the caller's transaction. */
export async function transit(
  ctx: Ctx,
  number: bigint,
  transition: Transition,
  { columns = {}, detail = {} }: { columns?: ProfileColumns; detail?: object } = {},
): Promise<Partner> {
  const [before] = await lockPartners(ctx.db, ctx.workspaceId, [number])
  if (!before) throw notFound('partner', String(number))
  const { from, to } = transitions[transition]
  const changed = await changePartner(ctx, number, { ...columns, status: to }, from)
  if (!changed) throw refusal(before, transition)
  reportChange(ctx, { kind: 'partners', id: before.id, before, after: { ...columns, status: to } })
  const described = { from: before.status, ...detail }
  await recordActivities(ctx, [{ partnerNumber: number, kind: to, detail: described }])
  // A partner that is approved is published as enrolled.
  if (transition !== 'approve' && transition !== 'accept') await publishUpdates(ctx, [number])
  return changed
}

export async function banPartner(
  ctx: Ctx,
  money: MoneyEffects,
  { reason, ...name }: PartnerName & { reason: (typeof banReasons)[number] },
): Promise<Result> {
  return change(ctx, name, async (ctx, { number }) => {
    const at = ctx.now()
    const columns = { banned_at: at, banned_reason: reason, token_hash: null, token_expires_at: null }
    const partner = await transit(ctx, number, 'ban', {
      columns,
      detail: { reason, linksDisabledAt: at.toISOString() },
    })
    await disableLinks(ctx, partner.id, at)
    await disablePartnerCodes(ctx, number, at)
    await money.cancelUnpaid(ctx, partner)
  })
}

export async function unbanPartner(
  ctx: Ctx,
  money: MoneyEffects,
  { restoreCommissions, ...name }: PartnerName & { restoreCommissions?: boolean },
): Promise<Result> {
  return change(ctx, name, async (ctx, { number }) => {
    const partner = await transit(ctx, number, 'unban', { columns: { banned_at: null, banned_reason: null } })
    await enableLinks(ctx, partner.id, await disabledTimes(ctx, number))
    await enablePartnerCodes(ctx, number)
    if (restoreCommissions) await money.restoreCanceled(ctx, partner)
  })
}

export async function deactivatePartner(ctx: Ctx, name: PartnerName): Promise<Result> {
  return change(ctx, name, async (ctx, { number }) => {
    const at = ctx.now()
    const partner = await transit(ctx, number, 'deactivate', { detail: { linksDisabledAt: at.toISOString() } })
    await disableLinks(ctx, partner.id, at)
    await disablePartnerCodes(ctx, number, at)
  })
}

export async function reactivatePartner(ctx: Ctx, name: PartnerName): Promise<Result> {
  return change(ctx, name, async (ctx, { number }) => {
    const partner = await transit(ctx, number, 'reactivate')
    await enableLinks(ctx, partner.id, await disabledTimes(ctx, number))
    await enablePartnerCodes(ctx, number)
  })
}

export async function archivePartner(
  ctx: Ctx,
  { archived, ...name }: PartnerName & { archived: boolean },
): Promise<Result> {
  return change(ctx, name, async (ctx, { number }) => {
    await transit(ctx, number, archived ? 'archive' : 'unarchive')
  })
}

/** Approves an application: the partner joins the group that it applied to, or the given one, and gets default links. */
export async function approvePartner(
  ctx: Ctx,
  { partnerId, groupId }: { partnerId: string; groupId?: string | null },
): Promise<Result> {
  return change(ctx, { partnerId }, async (ctx, { number }) => {
    await admit(ctx, number, 'approve', groupId)
  })
}

/** Approves a partner and creates its default links, in the caller's transaction. */
export async function admit(
  ctx: Ctx,
  number: bigint,
  transition: 'approve' | 'accept',
  groupId?: string | null,
): Promise<Partner> {
  const target = requireLinkTarget(await requireProgram(ctx))
  const group = groupId ? await requireGroup(ctx, groupId) : undefined
  const columns = { reviewed_at: ctx.now(), rejection_reason: null, rejection_note: null, reapply_at: null }
  const cleared = { token_hash: null, token_expires_at: null }
  const partner = await transit(ctx, number, transition, {
    columns: transition === 'approve' ? { ...columns, ...cleared } : cleared,
  })
  if (group) await moveToGroup(ctx, [number], group)
  const joined = group ?? (await groupsByNumber(ctx, [partner.group_number])).get(partner.group_number)
  if (!joined) throw new Error(`The partner ${partner.id} has no group`)
  const member = { ...partner, group_number: joined.number }
  await ensureDefaultLinks(ctx, member, joined, target)
  await publishPartner(ctx, 'partner.enrolled', await presentPartner(ctx, member))
  return member
}

export async function rejectPartner(ctx: Ctx, input: ApplicationRejection): Promise<Result> {
  const { partnerId, rejectionReason, rejectionNote, reapplicationTimeframe, flagForFraud, flagForFraudReason } = input
  if (flagForFraud && reapplicationTimeframe === 'instant')
    throw badRequest('`flagForFraud` in the body does not go together with `reapplicationTimeframe: "instant"`.')
  if (flagForFraud && !flagForFraudReason)
    throw badRequest('`flagForFraudReason` in the body is required with `flagForFraud`.')
  return change(ctx, { partnerId }, async (ctx, { number }) => {
    const now = ctx.now()
    const columns = {
      reviewed_at: now,
      rejection_reason: rejectionReason ?? null,
      rejection_note: rejectionNote ?? null,
      reapply_at: findReapplyTime(reapplicationTimeframe, now),
      flagged_reason: flagForFraud ? flagForFraudReason : null,
    }
    await transit(ctx, number, 'reject', { columns, detail: { reason: rejectionReason, reapplicationTimeframe } })
  })
}

function findReapplyTime(timeframe: ApplicationRejection['reapplicationTimeframe'], now: Date): Date | number {
  if (timeframe === 'never') return Number.POSITIVE_INFINITY
  return timeframe === 'instant' ? now : new Date(now.getTime() + reapplyDays * dayMs)
}

async function change(
  ctx: Ctx,
  name: PartnerName,
  work: (ctx: Ctx, partner: Partner) => Promise<void>,
): Promise<Result> {
  return transaction(ctx, async (ctx) => {
    await requireProgram(ctx)
    const partner = await requirePartner(ctx, name)
    await work(ctx, partner)
    return { partnerId: partner.id }
  })
}
