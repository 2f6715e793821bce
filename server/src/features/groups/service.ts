import type { GroupPatch, GroupsQuery, NewGroup, PartnerGroup } from '@tributary/contract/groups'
import type { Ctx } from '../../platform/context.ts'
import { AppError, conflict, forbidden, notFound } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import { type AllWorkspacesDb, transaction, violatedConstraint } from '../../platform/postgres.ts'
import { reportChange } from '../../platform/recording.ts'
import { domainForLink } from '../domains/service.ts'
import { requireRoom } from '../workspaces/service.ts'
import { findMove, type MoveTarget, type MovingPartner } from './move.ts'
import {
  countGroups,
  countGroupsEver,
  countGroupsWithRules,
  deleteGroupRow,
  type GroupChanges,
  type GroupRow,
  insertGroup,
  lockGroup,
  selectGroup,
  selectGroupIds,
  selectGroups,
  selectGroupsById,
  selectGroupsByNumber,
  selectGroupsWithRules,
  updateGroupRow,
} from './store.ts'

export type Group = GroupRow
type Reader = Pick<Ctx, 'db' | 'workspaceId'>

export async function listGroups(ctx: Ctx, query: GroupsQuery): Promise<PartnerGroup[]> {
  await requireDefaultGroup(ctx)
  const rows = await selectGroups(ctx.db, ctx.workspaceId, {
    search: query.search?.trim().normalize('NFC'),
    sort: query.sortBy,
    ascending: query.sortOrder === 'asc',
    offset: (query.page - 1) * query.pageSize,
    count: query.pageSize,
  })
  return rows.map(presentGroup)
}

export async function getGroup(ctx: Ctx, id: string): Promise<PartnerGroup> {
  return presentGroup(await requireGroup(ctx, id))
}

export async function createGroup(ctx: Ctx, input: NewGroup): Promise<PartnerGroup> {
  const row = await transaction(ctx, async (ctx) => {
    await requireDefaultGroup(ctx)
    await requireRoom(ctx, 'partner groups', () => countGroups(ctx.db, ctx.workspaceId))
    await requireRowRoom(ctx)
    if (input.moveRules?.length) await requireRuleRoom(ctx)
    const changes = await groupColumns(ctx, input)
    const named = { id: newId('grp'), workspace_id: ctx.workspaceId, name: input.name, slug: input.slug }
    return insertGroup(ctx.db, { ...changes, ...named })
  })
  if (!row) throw slugTaken(input.slug)
  return presentGroup(row)
}

/** Creates the group that new partners join. */
export async function createDefaultGroup(ctx: Ctx): Promise<void> {
  const named = { id: newId('grp'), workspace_id: ctx.workspaceId, name: 'Default', slug: 'default' }
  await insertGroup(ctx.db, { ...named, is_default: true })
}

export async function updateGroup(ctx: Ctx, id: string, patch: GroupPatch): Promise<PartnerGroup> {
  const row = await transaction(ctx, async (ctx) => {
    const group = await requireGroup(ctx, id)
    if (group.is_default && patch.slug !== undefined && patch.slug !== group.slug) {
      throw forbidden('The slug of the default group never changes.')
    }
    if (patch.moveRules?.length && group.move_rules.length === 0) await requireRuleRoom(ctx)
    const columns = Object.entries(await groupColumns(ctx, patch)).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(group[name as keyof GroupRow]),
    )
    reportChange(ctx, { id, before: group, after: Object.fromEntries(columns) })
    if (columns.length === 0) return group
    return updateGroupRow(ctx.db, ctx.workspaceId, id, Object.fromEntries(columns))
  }).catch((error) => {
    throw patch.slug !== undefined && violatedConstraint(error) === 'partner_groups_slug'
      ? slugTaken(patch.slug)
      : error
  })
  if (!row) throw notFound('group', id)
  return presentGroup(row)
}

/** Deletes a group after `move` has moved its partners to the default group. */
export async function deleteGroup(
  ctx: Ctx,
  id: string,
  move: (ctx: Ctx, from: Group, to: Group) => Promise<void>,
): Promise<{ id: string }> {
  await transaction(ctx, async (ctx) => {
    const group = await lockGroup(ctx.db, ctx.workspaceId, id)
    if (!group) throw notFound('group', id)
    if (group.is_default) throw forbidden('The default group cannot be deleted.')
    await move(ctx, group, await requireDefaultGroup(ctx))
    await deleteGroupRow(ctx.db, ctx.workspaceId, group.number)
  })
  return { id }
}

/** Throws when the group does not exist. In a transaction, locks its row against deletion until it ends. */
export async function requireGroup(ctx: Reader, id: string): Promise<Group> {
  const group = await selectGroup(ctx.db, ctx.workspaceId, { id })
  if (!group) throw notFound('group', id)
  return group
}

export async function requireDefaultGroup(ctx: Reader): Promise<Group> {
  const group = await selectGroup(ctx.db, ctx.workspaceId, { isDefault: true })
  if (!group) throw noProgram()
  return group
}

/** Reads groups, including deleted ones, by number. */
export async function groupsByNumber(ctx: Reader, numbers: bigint[]): Promise<Map<bigint, Group>> {
  if (numbers.length === 0) return new Map()
  const rows = await selectGroupsByNumber(ctx.db, ctx.workspaceId, [...new Set(numbers)])
  return new Map(rows.map((row) => [row.number, row]))
}

/** The ids of groups of any workspace, including deleted ones, by number. */
export async function groupIds(db: AllWorkspacesDb, numbers: bigint[]): Promise<Map<bigint, string>> {
  const rows = await selectGroupIds(db, [...new Set(numbers)])
  return new Map(rows.map(({ number, id }) => [number, id]))
}

/** A group that partners move to when their totals meet its rules. */
export type GroupTarget = MoveTarget & Pick<Group, 'number'>

/** Reads groups by number, and the groups that partners move to by rules, which it locks against deletion. */
export async function groupsAndTargets(
  ctx: Reader,
  numbers: bigint[],
): Promise<{ groups: Map<bigint, Group>; targets: GroupTarget[] }> {
  const rows = await selectGroupsWithRules(ctx.db, ctx.workspaceId, [...new Set(numbers)])
  const targets = rows.filter(({ is_target }) => is_target)
  return {
    groups: new Map(rows.map((row) => [row.number, row])),
    targets: targets.map(({ number, id, move_rules }) => ({ number, id, moveRules: move_rules })),
  }
}

/** The group that a partner moves to by its totals; undefined when it stays. */
export function findTarget(partner: MovingPartner, targets: GroupTarget[]): GroupTarget | undefined {
  const id = targets.length === 0 ? null : findMove(partner, targets)
  return id === null ? undefined : targets.find((target) => target.id === id)
}

export async function groupsById(ctx: Reader, ids: string[]): Promise<Map<string, Group>> {
  if (ids.length === 0) return new Map()
  const rows = await selectGroupsById(ctx.db, ctx.workspaceId, [...new Set(ids)])
  return new Map(rows.map((row) => [row.id, row]))
}

export function noProgram(): AppError {
  return new AppError('not_found', 'This workspace has no partner program. Create one with POST /programs.')
}

async function groupColumns(ctx: Ctx, input: GroupPatch): Promise<GroupChanges> {
  for (const { domain } of input.defaultLinks ?? []) if (domain !== undefined) await domainForLink(ctx, domain)
  const columns = {
    name: input.name,
    slug: input.slug,
    color: input.color,
    default_links: input.defaultLinks,
    additional_links: input.additionalLinks,
    max_partner_links: input.maxPartnerLinks,
    holding_period_days: input.holdingPeriodDays,
    auto_approve: input.autoApprove,
    move_rules: input.moveRules,
  }
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined))
}

// Rewards and commissions refer to a deleted group, so its row stays.
const mostEver = 10_000

async function requireRowRoom(ctx: Ctx): Promise<void> {
  if ((await countGroupsEver(ctx.db, ctx.workspaceId, mostEver)) < mostEver) return
  throw conflict(`This program has had ${mostEver} groups, which is the limit. Change a group instead of replacing it.`)
}

// Each change of a partner's totals reads and judges all groups with rules.
const mostWithRules = 100

async function requireRuleRoom(ctx: Ctx): Promise<void> {
  if ((await countGroupsWithRules(ctx.db, ctx.workspaceId)) < mostWithRules) return
  throw conflict(
    `This program has ${mostWithRules} groups with \`moveRules\`, which is the limit. Remove those of another group.`,
  )
}

function slugTaken(slug: string): AppError {
  return conflict(`Another group already has the slug ${slug}. Choose another slug.`)
}

function presentGroup(row: GroupRow): PartnerGroup {
  return {
    id: row.id,
    name: row.name,
    slug: row.slug,
    color: row.color,
    isDefault: row.is_default,
    defaultLinks: row.default_links,
    additionalLinks: row.additional_links,
    maxPartnerLinks: row.max_partner_links,
    holdingPeriodDays: row.holding_period_days,
    autoApprove: row.auto_approve,
    moveRules: row.move_rules,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  }
}
