import type { Link } from '@tributary/contract/links'
import type { Ctx } from '../../platform/context.ts'
import { AppError } from '../../platform/errors.ts'
import { knownFolderIds, requireFolderWrite } from '../folders/service.ts'
import { missingTagIds } from '../tags/service.ts'
import { findLinksByNumber, lockLinkRows } from './access.ts'
import { columnJson, type LinkValues, replaceTagsOfLinks, updateLinks } from './many-store.ts'
import { requirePartnerChoice } from './partner-columns.ts'
import { type Named, type PlannedChange, planChange, readNamed, resolveTags } from './plan-change.ts'
import { presentAll } from './present.ts'
import { instants, linkColumns, type Settings } from './settings.ts'
import { type LinkRow, selectLinksByNumber } from './store.ts'
import { publishEvents, removeLinks } from './write.ts'

/* One change of many links. It costs a few statements for all of them, not for each. */

/** One change of many links; `update` has no domain, key and external id, which are unique. */
export type LinksChange =
  | { action: 'update'; data: Omit<Settings, 'externalId'> }
  | { action: 'replaceInUrl'; find: string; replaceWith: string }
  | { action: 'addTags' | 'removeTags'; tagIds: string[] }
  | { action: 'delete' }

/** Values of a link's columns, and of `tag_ids`, as JSON. */
export type StoredValues = Record<string, unknown>

/** What became of one link: the values that changed, none of them, or why the link can't be changed. */
export type LinkOutcome = { number: bigint; id?: string; before?: StoredValues; after?: StoredValues; problem?: string }

/** A changed link with the values before and after. */
export type ChangedLink = { number: bigint; before: StoredValues; after: StoredValues }

export type LinkPlan = PlannedChange & { link: LinkRow }

/** Changes those of the links that it can change. Call it in a transaction. Throws when no link could be changed so. */
export async function changeLinks(ctx: Ctx, numbers: bigint[], change: LinksChange): Promise<LinkOutcome[]> {
  const rows = await lockLinkRows(ctx, numbers)
  const plan = await preparePlan(ctx, change)
  const planned = rows.map((link) => attempt(link, () => plan(link)))
  const plans = planned.flatMap(({ plan }) => (plan && isChange(plan) ? plan : []))
  if (change.action === 'delete') await removeLinks(ctx, planNumbers(planned.flatMap(({ plan }) => plan ?? [])))
  else await writePlans(ctx, plans)
  const deleted = change.action === 'delete' ? await readDeletions(ctx, planned) : undefined
  const outcomes = planned.map(({ link, plan, problem }) => deleted?.get(link.number) ?? describe(link, plan, problem))
  return [...outcomes, ...missing(numbers, rows)]
}

/** Writes planned changes and publishes them. Returns the rows after the change, by number. */
export async function writePlans(ctx: Ctx, plans: LinkPlan[]): Promise<Map<bigint, LinkRow>> {
  if (plans.length === 0) return new Map()
  await updateLinks(
    ctx.db,
    ctx.workspaceId,
    plans.map(({ link, columns }): LinkValues => ({ link, values: columns })),
  )
  const retagged = plans.flatMap(({ link, tagIds }) => (tagIds ? { number: link.number, tagIds } : []))
  if (retagged.length > 0) await replaceTagsOfLinks(ctx.db, ctx.workspaceId, retagged)
  const rows = await selectLinksByNumber(ctx.db, ctx.workspaceId, planNumbers(plans))
  await publishEvents(ctx, 'link.updated', rows, new Map(plans.map(({ link }) => [link.number, link])))
  return new Map(rows.map((row) => [row.number, row]))
}

/**
 * Links as they are, and as the change would make them: null if it would delete them. Throws 403 when the caller may not
 * make the change, since a worker, which has all scopes, makes it later.
 */
export async function previewLinks(
  ctx: Ctx,
  numbers: bigint[],
  change: LinksChange,
): Promise<{ before: Link; after: Link | null }[]> {
  if (change.action === 'update' && change.data.partnerId !== undefined) requirePartnerChoice(ctx.actor)
  const rows = await findLinksByNumber(ctx, numbers)
  const plan = await preparePlan(ctx, change)
  const planned = rows.map((link) => attempt(link, () => plan(link))).filter(({ plan }) => plan !== undefined)
  const before = await presentAll(
    ctx,
    planned.map(({ link }) => link),
  )
  if (change.action === 'delete') return before.map((link) => ({ before: link, after: null }))
  const changed = planned.map(({ link, plan }) => ({
    ...link,
    ...plan?.columns,
    ...(plan?.tagIds && { tag_ids: plan.tagIds }),
  }))
  const after = await presentAll(ctx, changed)
  return before.map((link, index) => ({ before: link, after: after[index] as Link }))
}

/** Validates settings, and replaces words such as `in 3 days` by the time that they mean now. */
export function resolveTimes(data: Settings, now: Date): Settings {
  const columns = linkColumns(data, data.url ?? 'https://example.com/', now)
  const times = Object.entries(instants).flatMap(([field, column]) => {
    const time = columns[column]
    return time ? [[field, time.toISOString()]] : []
  })
  return { ...data, ...Object.fromEntries(times) }
}

/** Reads what a change refers to, and returns how it changes each link. */
export async function preparePlan(ctx: Ctx, change: LinksChange): Promise<(link: LinkRow) => PlannedChange> {
  if (change.action === 'delete') {
    return (link) => {
      requireFolderWrite(ctx, link.folder_id)
      return { columns: {} }
    }
  }
  if (change.action === 'update') {
    const named = await readNamed(ctx, change.data)
    return (link) => planChange(ctx, link, change.data, named)
  }
  const partners: Named['partners'] = { programId: undefined, idsByName: new Map() }
  if (change.action === 'replaceInUrl') {
    return (link) => {
      const url = link.url.replaceAll(change.find, () => change.replaceWith)
      return planChange(ctx, link, url === link.url ? {} : { url }, { tagIds: undefined, partners })
    }
  }
  const given = new Set(change.action === 'addTags' ? await resolveTags(ctx, change) : change.tagIds)
  const retag = (tagIds: string[]) =>
    change.action === 'addTags' ? [...new Set([...tagIds, ...given])] : tagIds.filter((id) => !given.has(id))
  return (link) => planChange(ctx, link, {}, { tagIds: retag(link.tag_ids), partners })
}

/**
 * Gives links the values from before a change. A link whose changed values are no longer those of the change stays as it is
 * and has a problem. Call it in a transaction.
 */
export async function revertLinks(ctx: Ctx, items: ChangedLink[]): Promise<LinkOutcome[]> {
  const numbers = items.map(({ number }) => number)
  const rows = await lockLinkRows(ctx, numbers)
  const byNumber = new Map(items.map((item) => [item.number, item]))
  const folders = await knownFolderIds(
    ctx,
    items.flatMap(({ before }) => (typeof before.folder_id === 'string' ? before.folder_id : [])),
  )
  const lostTags = new Set(await missingTagIds(ctx, [...new Set(items.flatMap(({ before }) => tagsIn(before)))]))
  const planned = rows.map((link) =>
    attempt(link, () => {
      const { before, after } = byNumber.get(link.number) as ChangedLink
      requireUntouched(link, before, after)
      const { tag_ids, ...columns } = before
      requireFolderWrite(ctx, link.folder_id)
      requireFolderWrite(ctx, columns.folder_id as string | null | undefined)
      if ('folder_id' in columns && !folders.has(String(columns.folder_id))) columns.folder_id = null
      const tagIds = tagsIn(before).filter((id) => !lostTags.has(id))
      return { columns: columns as PlannedChange['columns'], ...(tag_ids !== undefined && { tagIds }) }
    }),
  )
  await writePlans(
    ctx,
    planned.flatMap(({ plan }) => plan ?? []),
  )
  const outcomes = planned.map(({ link, plan, problem }) => describe(link, plan, problem))
  return [...outcomes, ...missing(numbers, rows)]
}

function requireUntouched(link: LinkRow, before: StoredValues, after: StoredValues): void {
  const changed = Object.keys(after).filter((name) => {
    const current = columnJson(link[name as keyof LinkRow])
    return JSON.stringify(current) !== JSON.stringify(after[name] ?? null)
  })
  if (changed.length > 0)
    throw new AppError('conflict', `Somebody has changed the link since: ${changed.sort().join(', ')}.`)
  if ('partner_id' in before && (link.clicks > 0n || link.leads > 0n))
    throw new AppError('conflict', 'The link has clicks since, so it stays with its partner.')
}

function tagsIn({ tag_ids }: StoredValues): string[] {
  return Array.isArray(tag_ids) ? tag_ids : []
}

type Attempt = { link: LinkRow; plan?: LinkPlan; problem?: string }

function attempt(link: LinkRow, plan: () => PlannedChange): Attempt {
  try {
    return { link, plan: { link, ...plan() } }
  } catch (error) {
    if (error instanceof AppError) return { link, problem: error.message }
    throw error
  }
}

/** Whether a planned change has any value. */
export function isChange({ columns, tagIds }: PlannedChange): boolean {
  return Object.keys(columns).length > 0 || tagIds !== undefined
}

function describe(link: LinkRow, plan: LinkPlan | undefined, problem: string | undefined): LinkOutcome {
  const { number, id } = link
  if (!plan || !isChange(plan)) return { number, id, ...(problem !== undefined && { problem }) }
  const { columns, tagIds } = plan
  const json = (entries: [string, unknown][]) =>
    Object.fromEntries(entries.map(([name, value]) => [name, columnJson(value)]))
  const before = json(Object.keys(columns).map((name) => [name, link[name as keyof LinkRow]]))
  return {
    number,
    id,
    before: { ...before, ...(tagIds && { tag_ids: link.tag_ids }) },
    after: { ...json(Object.entries(columns)), ...(tagIds && { tag_ids: tagIds }) },
  }
}

/** The outcomes of deleted links: their time of deletion tells this deletion from a later one. */
async function readDeletions(ctx: Ctx, planned: Attempt[]): Promise<Map<bigint, LinkOutcome>> {
  const numbers = planNumbers(planned.flatMap(({ plan }) => plan ?? []))
  const rows = await selectLinksByNumber(ctx.db, ctx.workspaceId, numbers)
  return new Map(
    rows.map(({ number, id, deleted_at }) => [
      number,
      { number, id, before: { deleted_at: null }, after: { deleted_at: columnJson(deleted_at) } },
    ]),
  )
}

function missing(numbers: bigint[], rows: LinkRow[]): LinkOutcome[] {
  const found = new Set(rows.map(({ number }) => number))
  return numbers
    .filter((number) => !found.has(number))
    .map((number) => ({ number, problem: 'The link was deleted meanwhile.' }))
}

function planNumbers(plans: LinkPlan[]): bigint[] {
  return plans.map(({ link }) => link.number)
}
