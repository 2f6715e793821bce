import { type Ctx, formatActor } from '../../platform/context.ts'
import { badRequest, notFound } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import type { AllWorkspacesDb, Db } from '../../platform/postgres.ts'
import { type Group, groupsByNumber } from '../groups/service.ts'
import { keepCount, requireStorageRoom } from '../workspaces/service.ts'
import {
  claimPartnerRows,
  countPartners,
  insertActivities,
  insertPartner,
  lockPartnerRows,
  lockPartnersOfGroup,
  type NewPartnerRow,
  type PartnerRow,
  selectPartner,
  selectPartnerNumbers,
  selectPartnersById,
  selectPartnersByNumber,
  updateGroupOfPartners,
} from './store.ts'
import { addTotals, type PartnerTotals, selectTotals, type TotalsChange } from './totals-store.ts'

/* Partners and their totals. The feature enrolments changes their status and their links. */

export type Partner = PartnerRow
export type Totals = PartnerTotals
type Reader = Pick<Ctx, 'db' | 'workspaceId'>

/** Names a partner in a request: `partnerId` wins over `tenantId`. */
export type PartnerName = { partnerId?: string | null; tenantId?: string | null }

/**
 * Locks partners until the transaction ends, in ascending order, and returns their current rows. Every change of a
 * partner's status or money locks the partner first.
 */
export function lockPartners(db: Db, workspaceId: string, numbers: bigint[]): Promise<Partner[]> {
  return lockPartnerRows(db, workspaceId, [...new Set(numbers)])
}

/** Locks those of the partners that no other transaction has locked; `byId` has the numbers of all known ids. */
export async function claimPartners(
  db: AllWorkspacesDb,
  ids: string[],
): Promise<{ partners: Partner[]; byId: Map<string, bigint> }> {
  const known = await selectPartnerNumbers(db, [...new Set(ids)])
  const byId = new Map(known.map(({ id, number }) => [id, number]))
  return { partners: await claimPartnerRows(db, [...new Set(byId.values())]), byId }
}

/** Reads partners by id. The id of a merged partner finds the partner it became. */
export async function findPartnersById(ctx: Reader, ids: string[]): Promise<Map<string, Partner>> {
  if (ids.length === 0) return new Map()
  const rows = await selectPartnersById(ctx.db, ctx.workspaceId, [...new Set(ids)])
  return new Map(rows.map(({ asked, ...row }) => [asked, row]))
}

/** Reads partners, including merged ones, by number. */
export async function partnersByNumber(ctx: Reader, numbers: bigint[]): Promise<Map<bigint, Partner>> {
  if (numbers.length === 0) return new Map()
  const rows = await selectPartnersByNumber(ctx.db, ctx.workspaceId, [...new Set(numbers)])
  return new Map(rows.map((row) => [row.number, row]))
}

/** Finds the partner that a request names. Throws 400 without a name, and 404 when there is none. */
export async function requirePartner(ctx: Reader, { partnerId, tenantId }: PartnerName): Promise<Partner> {
  if (!partnerId && !tenantId) throw badRequest('`partnerId` or `tenantId` is required.')
  const partner = await findPartner(ctx, { partnerId, tenantId })
  if (!partner) throw notFound('partner', partnerId || `with the tenantId ${tenantId}`)
  return partner
}

export async function findPartner(ctx: Reader, { partnerId, tenantId }: PartnerName): Promise<Partner | undefined> {
  if (partnerId) return (await findPartnersById(ctx, [partnerId])).get(partnerId)
  return tenantId ? selectPartner(ctx.db, ctx.workspaceId, { tenantId }) : undefined
}

/** Reads partners by id, in the order of the ids. Throws 404 for the first that does not exist. */
export async function requirePartners(ctx: Reader, ids: string[]): Promise<Partner[]> {
  const found = await findPartnersById(ctx, ids)
  return ids.map((id) => {
    const partner = found.get(id)
    if (!partner) throw notFound('partner', id)
    return partner
  })
}

/** Adds a partner, in a transaction. Undefined when another one has its e-mail or tenant id. */
export async function addPartner(
  ctx: Ctx,
  row: Omit<NewPartnerRow, 'id' | 'workspace_id'>,
): Promise<Partner | undefined> {
  await requireStorageRoom(ctx, 'partners', () => countPartners(ctx.db, ctx.workspaceId))
  const added = await insertPartner(ctx.db, { ...row, id: newId('pn'), workspace_id: ctx.workspaceId })
  if (!added) return undefined
  await keepCount(ctx, 'partners', 1)
  await recordActivities(ctx, [{ partnerNumber: added.number, kind: added.status }])
  return added
}

/** Moves partners to a group, in a transaction. Returns those that were in another group. */
export async function movePartners(ctx: Ctx, numbers: bigint[], group: Group): Promise<Partner[]> {
  const locked = await lockPartners(ctx.db, ctx.workspaceId, numbers)
  return moveLocked(
    ctx,
    locked.filter((partner) => partner.group_number !== group.number),
    group,
  )
}

/** Moves up to `most` partners of a group to another one, in a transaction. Returns how many moved. */
export async function moveGroup(ctx: Ctx, from: Group, to: Group, most: number): Promise<number> {
  const locked = await lockPartnersOfGroup(ctx.db, ctx.workspaceId, from.number, most)
  return (await moveLocked(ctx, locked, to)).length
}

async function moveLocked(ctx: Ctx, partners: Partner[], group: Group): Promise<Partner[]> {
  const numbers = partners.map((partner) => partner.number)
  const former = await groupsByNumber(
    ctx,
    partners.map((partner) => partner.group_number),
  )
  await updateGroupOfPartners(ctx.db, ctx.workspaceId, numbers, group.number)
  await recordActivities(
    ctx,
    partners.map(({ number, group_number }) => ({
      partnerNumber: number,
      kind: 'group',
      detail: { from: former.get(group_number)?.id, to: group.id },
    })),
  )
  return partners
}

/** Records who changed partners, and how. */
export async function recordActivities(
  ctx: Pick<Ctx, 'db' | 'workspaceId' | 'actor'>,
  activities: { partnerNumber: bigint; kind: string; detail?: object }[],
): Promise<void> {
  if (activities.length === 0) return
  const actor = formatActor(ctx.actor)
  await insertActivities(
    ctx.db,
    ctx.workspaceId,
    activities.map((activity) => ({ detail: {}, ...activity, actor })),
  )
}

/** Adds to the totals of partners, of any workspace. */
export async function addPartnerTotals(db: AllWorkspacesDb, changes: TotalsChange[]): Promise<void> {
  if (changes.length > 0) await addTotals(db, changes)
}

export async function totalsByPartner(ctx: Reader, numbers: bigint[]): Promise<Map<bigint, Totals>> {
  if (numbers.length === 0) return new Map()
  const rows = await selectTotals(ctx.db, ctx.workspaceId, [...new Set(numbers)])
  return new Map(rows.map((row) => [row.partner_number, row]))
}

export type PartnerSummary = Pick<Partner, 'id' | 'name' | 'email' | 'image' | 'country'> & {
  payoutsEnabledAt: string | null
  groupId: string | null
}

/** A partner as commissions, leads and sales show it, by number. */
export async function summarizePartners(ctx: Reader, numbers: bigint[]): Promise<Map<bigint, PartnerSummary>> {
  const partners = await partnersByNumber(ctx, numbers)
  const groups = await groupsByNumber(
    ctx,
    [...partners.values()].map((partner) => partner.group_number),
  )
  const summaries = [...partners].map(([number, partner]): [bigint, PartnerSummary] => {
    const { id, name, email, image, country, group_number } = partner
    const groupId = groups.get(group_number)?.id ?? null
    return [number, { id, name, email, image, payoutsEnabledAt: null, country, groupId }]
  })
  return new Map(summaries)
}
