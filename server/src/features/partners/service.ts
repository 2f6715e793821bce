import { chunks } from '../../platform/batches.ts'
import { type Ctx, formatActor, type Platform } from '../../platform/context.ts'
import { badRequest, invalid, notFound } from '../../platform/errors.ts'
import { hashPartition, newId } from '../../platform/ids.ts'
import { publish } from '../../platform/outbox.ts'
import { type AllWorkspacesDb, type Db, transaction } from '../../platform/postgres.ts'
import { type Group, groupIds, groupsByNumber } from '../groups/service.ts'
import { partnerTagsById } from '../partner-tags/service.ts'
import { hasAmpleRoom, keepCount, requireStorageRoom } from '../workspaces/service.ts'
import { type AttributesRange, selectAttributes } from './attributes-store.ts'
import {
  type PartnerFilter,
  type PartnerPage,
  replaceTagIds,
  selectApplications,
  selectPartnerPage,
  selectTagIds,
} from './list-store.ts'
import { partnersUpdatedMessage } from './messages.ts'
import {
  type BriefPartnerRow,
  type ClaimedPartnerRow,
  claimPartnerRows,
  countPartners,
  countUnconfirmedRows,
  deleteUnconfirmedRows,
  existingPartner,
  idSelection,
  insertActivities,
  insertPartner,
  lockPartnerRows,
  lockPartnerStates,
  lockPartnersOfGroup,
  markMerged,
  type NewPartnerRow,
  type PartnerChanges,
  type PartnerRow,
  type PartnerStatus,
  type PartnersFilter,
  partnersSelection,
  selectDisabledTimes,
  selectNumberedPartners,
  selectPartner,
  selectPartnerAliases,
  selectPartnerByEmail,
  selectPartnerByToken,
  selectPartnerNumbers,
  selectPartnersById,
  selectPartnersByNumber,
  updateGroups,
  updatePartner,
} from './store.ts'
import { type Earner, type Summary, summarizeTo, summarizeWithTotals } from './summaries.ts'
import {
  addClicks,
  addTotals,
  type ClicksOfPartner,
  type PartnerTotals,
  selectTopPartners,
  selectTotals,
  type TotalsChange,
} from './totals-store.ts'

/* Partners and their totals. The feature enrolments changes their status and their links. */

export type Partner = PartnerRow
export type ClaimedPartner = ClaimedPartnerRow
export type BriefPartner = BriefPartnerRow
export type Status = PartnerStatus
export type ProfileColumns = PartnerChanges
export type Totals = PartnerTotals
type Reader = Pick<Ctx, 'db' | 'workspaceId'>

/** Names a partner in a request: `partnerId` wins over `tenantId`. */
export type PartnerName = { partnerId?: string | null; tenantId?: string | null }

/** Locks partners, in ascending order, until the transaction ends. Each change of status or money does so first. */
export function lockPartners(db: Db, workspaceId: string, numbers: bigint[]): Promise<Partner[]> {
  return lockPartnerRows(db, workspaceId, [...new Set(numbers)])
}

/** Locks many partners as `lockPartners` does, and returns only what decides about their money. */
export function lockManyPartners(db: Db, workspaceId: string, numbers: bigint[]): Promise<ClaimedPartner[]> {
  return lockPartnerStates(db, workspaceId, [...new Set(numbers)])
}

/** Locks those of the partners that no other transaction has locked, or waits for all; `byId` has the numbers of all known ids. */
export async function claimPartners(
  db: Db,
  workspaceId: string,
  ids: string[],
  { waits = false }: { waits?: boolean } = {},
): Promise<{ partners: ClaimedPartner[]; byId: Map<string, bigint> }> {
  const known = await selectPartnerNumbers(db, workspaceId, [...new Set(ids)])
  const byId = new Map(known.map(({ id, number }) => [id, number]))
  const numbers = [...new Set(byId.values())]
  return { partners: await (waits ? lockManyPartners(db, workspaceId, numbers) : claimPartnerRows(db, numbers)), byId }
}

/** Reads partners by id. The id of a merged partner finds the partner it became. */
export async function findPartnersById(ctx: Reader, ids: string[]): Promise<Map<string, BriefPartner>> {
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
  if (partnerId) return selectPartner(ctx.db, ctx.workspaceId, { id: partnerId })
  return tenantId ? selectPartner(ctx.db, ctx.workspaceId, { tenantId }) : undefined
}

/** Every id under which links of these partners are found: a merge leaves the old id on deleted links. */
export async function partnerAliases(ctx: Reader, ids: string[]): Promise<string[]> {
  return [...new Set([...ids, ...(await selectPartnerAliases(ctx.db, ctx.workspaceId, ids))])]
}

/** Partners of any workspace after a number, or with the given numbers, including merged ones. */
export function numberedPartners({ db }: { db: AllWorkspacesDb }, range: Parameters<typeof selectNumberedPartners>[1]) {
  return selectNumberedPartners(db, range)
}

/** The present group and tags of a partner, by which its events are found. A merged partner has none. */
export type Attributes = { number: bigint; workspaceId: string; partnerId: string; groupId: string; tagIds: string[] }

/** The attributes of partners of any workspace, after a number or with the given ids, in the order of their numbers. */
export async function partnerAttributes(
  { db }: { db: AllWorkspacesDb },
  range: AttributesRange,
): Promise<Attributes[]> {
  const rows = await selectAttributes(db, range)
  const groups = await groupIds(
    db,
    rows.map((row) => row.group_number),
  )
  return rows.map(({ number, workspace_id: workspaceId, id: partnerId, group_number, is_merged, tag_ids }) => {
    const own = is_merged ? undefined : { groupId: groups.get(group_number) ?? '', tagIds: tag_ids }
    return { number, workspaceId, partnerId, ...(own ?? { groupId: '', tagIds: [] }) }
  })
}

/** The SQL that selects the numbers of partners in groups or with tags. */
export function partnersWhere({ workspaceId }: Pick<Ctx, 'workspaceId'>, filter: PartnersFilter) {
  return partnersSelection(workspaceId, filter)
}

/** Reads partners by id, in the order of the ids. Throws 404 for the first that does not exist. */
export async function requirePartners(ctx: Reader, ids: string[]): Promise<BriefPartner[]> {
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
  if (!(await hasAmpleRoom(ctx, 'partners')))
    await requireStorageRoom(ctx, 'partners', () => countPartners(ctx.db, ctx.workspaceId))
  const named = { ...row, id: newId('pn'), workspace_id: ctx.workspaceId }
  const added = await insertPartner(ctx.db, named, formatActor(ctx.actor))
  if (added) await keepCount(ctx, 'partners', 1)
  return added
}

/** Moves partners to a group, in a transaction. Returns those that were in another group. */
export async function movePartners(ctx: Ctx, numbers: bigint[], group: Group): Promise<ClaimedPartner[]> {
  return moveLocked(ctx, await lockManyPartners(ctx.db, ctx.workspaceId, numbers), group)
}

/** Moves up to `most` partners of a group to another one, in a transaction. Returns them. */
export async function moveGroup(ctx: Ctx, from: Group, to: Group, most: number): Promise<ClaimedPartner[]> {
  return moveLocked(ctx, await lockPartnersOfGroup(ctx.db, ctx.workspaceId, from.number, most), to)
}

async function moveLocked(ctx: Ctx, locked: ClaimedPartner[], group: Group): Promise<ClaimedPartner[]> {
  const partners = locked.filter(({ group_number }) => group_number !== group.number)
  const former = await groupsByNumber(
    ctx,
    partners.map((partner) => partner.group_number),
  )
  await recordMoves(
    ctx,
    partners.map(({ number, group_number }) => ({
      partnerNumber: number,
      groupNumber: group.number,
      detail: { from: former.get(group_number)?.id, to: group.id },
    })),
  )
  return partners
}

/** Moves partners to groups, each with an activity. Lock the partners before. */
export async function recordMoves(
  ctx: Ctx,
  moves: { partnerNumber: bigint; groupNumber: bigint; detail: object }[],
): Promise<void> {
  if (moves.length === 0) return
  await updateGroups(ctx.db, ctx.workspaceId, moves)
  await recordActivities(
    ctx,
    moves.map(({ partnerNumber, detail }) => ({ partnerNumber, kind: 'group', detail })),
  )
  await publishUpdates(
    ctx,
    moves.map(({ partnerNumber }) => partnerNumber),
  )
}

const updatesPerMessage = 100

/** Publishes that partners were changed, in the caller's transaction. */
export async function publishUpdates(ctx: Ctx, numbers: bigint[]): Promise<void> {
  const { workspaceId } = ctx
  const createdAt = ctx.now().toISOString()
  const partition = hashPartition(workspaceId, ctx.config.EVENT_PARTITIONS)
  const messages = [...chunks(numbers, updatesPerMessage)].map((some) => {
    const events = some.map((number) => ({ id: newId('evt'), createdAt, partnerNumber: String(number) }))
    return partnersUpdatedMessage({ workspaceId, events }, partition)
  })
  if (messages.length > 0) await publish(ctx, ...messages)
}

/** Changes a partner whose status is one of `from`; undefined when it has another. Call `lockPartners` before. */
export function changePartner(
  ctx: Reader,
  number: bigint,
  changes: PartnerChanges,
  from?: readonly Status[],
): Promise<Partner | undefined> {
  return updatePartner(ctx.db, ctx.workspaceId, number, changes, from)
}

/** Finds a partner by e-mail address, also one whose application is not confirmed. */
export function findPartnerByEmail(ctx: Reader, email: string): Promise<Partner | undefined> {
  return selectPartnerByEmail(ctx.db, ctx.workspaceId, email)
}

/** Finds the partner, of any workspace, that a token was sent to. */
export function findPartnerByToken(db: AllWorkspacesDb, tokenHash: Buffer): Promise<Partner | undefined> {
  return selectPartnerByToken(db, tokenHash)
}

/** How many applications have an unconfirmed e-mail address, counted up to `most`. */
export function countUnconfirmed(ctx: Reader, most: number): Promise<number> {
  return countUnconfirmedRows(ctx.db, ctx.workspaceId, most)
}

export function listPartnerRows(ctx: Reader, filter: PartnerFilter, page: PartnerPage): Promise<Partner[]> {
  return selectPartnerPage(ctx.db, ctx.workspaceId, filter, page)
}

export function listApplicationRows(
  ctx: Reader,
  filter: Pick<PartnerFilter, 'groupNumber' | 'country'>,
  page: Omit<PartnerPage, 'sort'>,
): Promise<Partner[]> {
  return selectApplications(ctx.db, ctx.workspaceId, filter, page)
}

export async function tagsByPartner(
  ctx: Reader,
  numbers: bigint[],
): Promise<Map<bigint, { id: string; name: string }[]>> {
  if (numbers.length === 0) return new Map()
  const rows = await selectTagIds(ctx.db, ctx.workspaceId, numbers)
  const tags = await partnerTagsById(
    ctx,
    rows.map((row) => row.tag_id),
  )
  const byPartner = Map.groupBy(rows, (row) => row.partner_number)
  return new Map(
    [...byPartner].map(([number, mine]) => [
      number,
      mine.flatMap(({ tag_id: id }) => (tags.has(id) ? [{ id, name: tags.get(id)?.name ?? '' }] : [])),
    ]),
  )
}

/** Replaces the tags of a partner, in a transaction. Throws 422 for unknown tags. */
export async function replaceTags(ctx: Reader, number: bigint, tagIds: string[]): Promise<void> {
  const known = await partnerTagsById(ctx, tagIds)
  const missing = tagIds.filter((id) => !known.has(id))
  if (missing.length > 0)
    throw invalid(`\`tagIds\` in the body names partner tags that do not exist: ${missing.slice(0, 10).join(', ')}.`)
  await replaceTagIds(ctx.db, ctx.workspaceId, number, [...new Set(tagIds)].sort())
}

/** When links of the partner were disabled by bans and deactivations. */
export function disabledTimes(ctx: Reader, number: bigint): Promise<Date[]> {
  return selectDisabledTimes(ctx.db, ctx.workspaceId, number)
}

/** Makes the source's id name the target, and adds its totals and tags to the target's. Lock both before. */
export async function mergeRows(ctx: Ctx, source: Partner, target: Partner): Promise<void> {
  const [tags, totals] = [await tagsByPartner(ctx, [source.number]), await totalsByPartner(ctx, [source.number])]
  await markMerged(ctx.db, ctx.workspaceId, source.number, target.number)
  const own = await tagsByPartner(ctx, [target.number])
  const tagIds = [...(own.get(target.number) ?? []), ...(tags.get(source.number) ?? [])].map((tag) => tag.id)
  await replaceTags(ctx, target.number, tagIds)
  const added: Partial<Totals> = totals.get(source.number) ?? {}
  const taken = Object.fromEntries(Object.entries(added).map(([name, value]) => [name, -value])) as Partial<Totals>
  await addPartnerTotals(ctx.db, [
    { partnerNumber: target.number, ...added },
    { partnerNumber: source.number, ...taken },
  ])
  await recordActivities(ctx, [
    { partnerNumber: source.number, kind: 'merged', detail: { into: target.id } },
    { partnerNumber: target.number, kind: 'merged', detail: { from: source.id } },
  ])
}

/** Deletes up to `count` applications that were not confirmed before their code expired. Returns how many. */
export async function deleteUnconfirmed(platform: Pick<Platform, 'db'>, now: Date, count: number): Promise<number> {
  return transaction(platform, async ({ db }) => {
    const deleted = await deleteUnconfirmedRows(db, now, count)
    for (const [workspaceId, rows] of Map.groupBy(deleted, (row) => row.workspace_id))
      await keepCount({ db, workspaceId }, 'partners', -rows.length)
    return deleted.length
  })
}

/** The SQL condition that a partner, if any, exists; the columns are SQL, too. */
export function partnerCondition(columns: Record<'workspace' | 'id', string>): string {
  return existingPartner(columns)
}

/** The SQL that selects the id of a partner by number; the arguments are SQL. */
export function partnerIdSelection(columns: Record<'workspace' | 'number', string>): string {
  return idSelection(columns)
}

/** Records who changed partners, and how. */
export async function recordActivities(
  ctx: Pick<Ctx, 'db' | 'workspaceId' | 'actor'>,
  activities: { partnerNumber: bigint; kind: string; detail?: object }[],
): Promise<void> {
  if (activities.length === 0) return
  const actor = formatActor(ctx.actor)
  const rows = activities.map((activity) => ({ detail: {}, ...activity, actor }))
  await insertActivities(ctx.db, ctx.workspaceId, rows)
}

/** Adds to the totals of partners, of any workspace. */
export async function addPartnerTotals(db: AllWorkspacesDb, changes: TotalsChange[]): Promise<void> {
  if (changes.length > 0) await addTotals(db, changes)
}

/** Adds clicks to the totals of partners, of any workspace; unknown ids are skipped. */
export function addPartnerClicks(db: AllWorkspacesDb, counts: ClicksOfPartner[]): Promise<void> {
  return addClicks(db, counts)
}

/** Sets the clicks in the totals of partners. */
export function replacePartnerClicks(db: AllWorkspacesDb, counts: ClicksOfPartner[]): Promise<void> {
  return addClicks(db, counts, true)
}

export async function totalsByPartner(ctx: Reader, numbers: bigint[]): Promise<Map<bigint, Totals>> {
  if (numbers.length === 0) return new Map()
  const rows = await selectTotals(ctx.db, ctx.workspaceId, [...new Set(numbers)])
  return new Map(rows.map(({ partner_number, ...totals }) => [partner_number, totals]))
}

/** The partners of a group with the highest revenue. */
export function topPartners({ db, workspaceId }: Reader, groupNumber: bigint, most: number) {
  return selectTopPartners(db, workspaceId, groupNumber, most)
}

export type PartnerSummary = Summary
export type EarningPartner = Earner

/** A partner as commissions show it to the actor, by number. */
export function summarizePartners(ctx: Reader & Pick<Ctx, 'actor'>, numbers: bigint[]) {
  return summarizeTo(ctx, numbers)
}

/** A partner with its totals, as webhook events show it, by number. */
export function summarizeEarners(ctx: Reader, numbers: bigint[]): Promise<Map<bigint, EarningPartner>> {
  return summarizeWithTotals(ctx, numbers)
}
