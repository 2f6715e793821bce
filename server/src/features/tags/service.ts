import { randomInt } from 'node:crypto'
import { type NewTag, type Tag, type TagPatch, type TagsQuery, tagColors } from '@tributary/contract/tags'
import type { Ctx, Platform } from '../../platform/context.ts'
import { badRequest, conflict, notFound } from '../../platform/errors.ts'
import { hashPartition, newId } from '../../platform/ids.ts'
import { publish } from '../../platform/outbox.ts'
import { transaction, violatedConstraint } from '../../platform/postgres.ts'
import { reportChange } from '../../platform/recording.ts'
import { requireRoom } from '../workspaces/service.ts'
import { type TagDeleted, tagDeletedMessage } from './messages.ts'
import {
  countTags,
  deleteTagRow,
  existingTags,
  insertTag,
  lockTagging,
  selectMissingTags,
  selectTags,
  selectTagsByIdOrName,
  selectTagsByIds,
  selectTagsByNames,
  type TagRow,
  updateTagRow,
} from './store.ts'

// Pink is never chosen at random, only by the client.
const randomColors = tagColors.filter((color) => color !== 'pink')

export async function listTags(ctx: Ctx, query: TagsQuery): Promise<Tag[]> {
  const rows = await selectTags(ctx.db, ctx.workspaceId, {
    ids: query.ids,
    search: query.search && normalName(query.search),
    sortBy: query.sortBy,
    ascending: query.sortOrder === 'asc',
    offset: (query.page - 1) * query.pageSize,
    count: query.pageSize,
  })
  return rows.map(presentTag)
}

export function tagCount(ctx: Pick<Ctx, 'db' | 'workspaceId'>): Promise<number> {
  return countTags(ctx.db, ctx.workspaceId)
}

export async function createTag(ctx: Ctx, input: NewTag): Promise<Tag> {
  const name = input.name ?? input.tag
  if (name === undefined) throw badRequest('`name` in the body is required.')
  const color = input.color ?? (randomColors[randomInt(randomColors.length)] as Tag['color'])
  const row = await transaction(ctx, async (ctx) => {
    await requireRoom(ctx, 'tags', () => countTags(ctx.db, ctx.workspaceId))
    return insertTag(ctx.db, { id: newId('tag'), workspace_id: ctx.workspaceId, name, color })
  })
  if (!row) throw nameTaken(name)
  return presentTag(row)
}

export async function updateTag(ctx: Ctx, id: string, patch: TagPatch): Promise<Tag> {
  const [row] = await selectTagsByIds(ctx.db, ctx.workspaceId, [id])
  if (!row) throw notFound('tag', id)
  const { name, color } = { name: patch.name ?? patch.tag, color: patch.color }
  if ((name ?? row.name) === row.name && (color ?? row.color) === row.color) return presentTag(row)
  reportChange(ctx, { id, before: row, after: { name: name ?? row.name, color: color ?? row.color } })
  const updated = await updateTagRow(ctx.db, ctx.workspaceId, id, { name, color }).catch((error) => {
    throw name !== undefined && violatedConstraint(error) === 'tags_name' ? nameTaken(name) : error
  })
  if (!updated) throw notFound('tag', id)
  return presentTag(updated)
}

/** Removes a tag from its links: in PostgreSQL at once; event filters follow when the worker handles the message. */
export async function deleteTag(ctx: Ctx, id: string): Promise<{ id: string }> {
  await transaction(ctx, async (ctx) => {
    await lockTagging(ctx.db, ctx.workspaceId)
    if (!(await deleteTagRow(ctx.db, ctx.workspaceId, id))) throw notFound('tag', id)
    const partition = hashPartition(ctx.workspaceId, ctx.config.EVENT_PARTITIONS)
    await publish(ctx, tagDeletedMessage({ workspaceId: ctx.workspaceId, tagId: id }, partition))
  })
  return { id }
}

/** Reads tags by id. In a transaction, locks their rows against deletion until it ends. */
export async function tagsByIds(ctx: Ctx, ids: string[]): Promise<Map<string, Tag>> {
  if (ids.length === 0) return new Map()
  const rows = await selectTagsByIds(ctx.db, ctx.workspaceId, [...new Set(ids)])
  return new Map(rows.map((row) => [row.id, presentTag(row)]))
}

/** Returns the tag ids of the given names (case-insensitive, in the same order), and the names without a tag. */
export async function tagIdsByNames(ctx: Ctx, names: string[]): Promise<{ found: string[]; missing: string[] }> {
  if (names.length === 0) return { found: [], missing: [] }
  const asked = names.map(normalName)
  const rows = await selectTagsByNames(ctx.db, ctx.workspaceId, asked)
  const indexes = new Set(rows.map((row) => Number(row.index)))
  const missing = asked.filter((_, index) => !indexes.has(index + 1))
  return { found: [...new Set(rows.map((row) => row.id))], missing: [...new Set(missing)] }
}

export type NamedTags = { byId: Map<string, Tag>; byName: (name: string) => Tag | undefined }

/** Reads tags by id or name, without a lock: `tagsCondition` checks them again. */
export async function findTags(ctx: Ctx, { ids, names }: Record<'ids' | 'names', string[]>): Promise<NamedTags> {
  const asked = { ids, names: names.map(normalName) }
  const rows = ids.length + names.length === 0 ? [] : await selectTagsByIdOrName(ctx.db, ctx.workspaceId, asked)
  const tags = rows.map(presentTag)
  const byName = new Map(tags.map((tag) => [tag.name.toLowerCase(), tag]))
  return {
    byId: new Map(tags.map((tag) => [tag.id, tag])),
    byName: (name) => byName.get(normalName(name).toLowerCase()),
  }
}

/** The SQL condition that all of these tags exist; the columns are SQL, too. */
export function tagsCondition(columns: Record<'workspace' | 'ids', string>): string {
  return existingTags(columns)
}

export async function missingTagIds(ctx: Ctx, ids: string[]): Promise<string[]> {
  const known = await tagsByIds(ctx, ids)
  return [...new Set(ids)].filter((id) => !known.has(id))
}

/** Returns those of the given tags, of any workspace, that are deleted. */
export async function deletedTags(platform: Pick<Platform, 'db'>, named: TagDeleted[]): Promise<TagDeleted[]> {
  return named.length === 0 ? [] : selectMissingTags(platform.db, named)
}

function normalName(name: string): string {
  return name.trim().normalize('NFC')
}

function nameTaken(name: string) {
  return conflict(`Another tag already has the name ${name}. Choose another name.`)
}

function presentTag({ id, name, color }: TagRow): Tag {
  return { id, name, color }
}
