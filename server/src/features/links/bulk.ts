import { hash } from 'node:crypto'
import {
  type BulkUpdate,
  type Link,
  type LinkCheck,
  type LinkError,
  linkBody,
  type NewLink,
  newLink,
} from '@tributary/contract/links'
import { nestingProblem } from '../../platform/body.ts'
import type { Ctx } from '../../platform/context.ts'
import { AppError, badRequest, invalid } from '../../platform/errors.ts'
import { savepoint, transaction } from '../../platform/postgres.ts'
import { reportChange } from '../../platform/recording.ts'
import { parse } from '../../platform/validation.ts'
import { hiddenFolders, requireFolderWrite } from '../folders/service.ts'
import { lockLinkRows } from './access.ts'
import { createAtOnce, createSlowly } from './create.ts'
import { lookupKey } from './key.ts'
import { isChange, preparePlan, writePlans } from './many.ts'
import { presentAll } from './present.ts'
import { parseLinkName } from './settings.ts'
import { type LinkRow, lockNames } from './store.ts'
import { selectNumbersByName } from './titles-store.ts'
import { removeLinks } from './write.ts'

/** Creates links in one transaction. A link that can't be created has an error at its index; the others are created. */
export async function createLinks(ctx: Ctx, items: unknown[]): Promise<(Link | LinkError)[]> {
  return transaction(ctx, async (ctx) => {
    const names = lockNamesFor(items)
    if (names.length > 0) await lockNames(ctx.db, ctx.workspaceId, names)
    const inputs = items.map(parseItem)
    const valid = inputs.filter((input): input is NewLink => !(input instanceof AppError))
    const links = await createAtOnce(ctx, valid)
    const outcomes: (Link | LinkError)[] = []
    for (const [index, input] of inputs.entries()) {
      const made = input instanceof AppError ? input : (links.shift() ?? (await attempt(ctx, input)))
      outcomes.push(made instanceof AppError ? { link: items[index], error: made.message, code: made.code } : made)
    }
    return outcomes
  })
}

class RolledBack extends Error {}

/** Creates links as `createLinks` does, and takes all of it back: what remains is what it would have returned. */
export async function checkLinks(ctx: Ctx, items: unknown[]): Promise<LinkCheck[]> {
  let outcomes: (Link | LinkError)[] = []
  const attempt = transaction(ctx, async (ctx) => {
    outcomes = await createLinks(ctx, items)
    throw new RolledBack()
  })
  await attempt.catch((error) => {
    if (!(error instanceof RolledBack)) throw error
  })
  return outcomes.map((made) =>
    'error' in made ? { error: made.error, code: made.code } : { error: null, code: null },
  )
}

function parseItem(item: unknown): NewLink | AppError {
  try {
    // Check the number of values first: validation errors for thousands of values would be slow.
    const problem = nestingProblem(Buffer.from(JSON.stringify(item)), linkBody.bodyValues)
    if (problem) throw invalid(`The link ${problem}.`)
    return parse(newLink, item, 'body')
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
}

/** Applies one change to all given links in one transaction. Skips unknown links. */
export async function updateLinks(ctx: Ctx, { linkIds, externalIds, data }: BulkUpdate): Promise<Link[]> {
  const names = linkIds ?? externalIds?.map((externalId) => `ext_${externalId}`)
  if (!names?.length) throw badRequest('The body must have `linkIds` or `externalIds`.')
  return transaction(ctx, async (ctx) => {
    const links = await lockNamed(ctx, names)
    const plan = await preparePlan(ctx, { action: 'update', data })
    const plans = links.map((link) => ({ link, ...plan(link) }))
    for (const { link, columns, tagIds } of plans) {
      const after = { ...columns, ...(tagIds && { tag_ids: tagIds }) }
      reportChange(ctx, { kind: 'links', id: link.id, before: link, after })
    }
    const changed = await writePlans(ctx, plans.filter(isChange))
    return presentAll(
      ctx,
      links.map((link) => changed.get(link.number) ?? link),
    )
  })
}

/** Deletes links by id or external id in one transaction. Skips unknown links. */
export async function deleteLinks(ctx: Ctx, names: string[]): Promise<{ deletedCount: number }> {
  return transaction(ctx, async (ctx) => {
    const links = await lockNamed(ctx, names)
    for (const { folder_id } of links) requireFolderWrite(ctx, folder_id)
    const removed = await removeLinks(
      ctx,
      links.map(({ number }) => number),
    )
    return { deletedCount: removed.length }
  })
}

/** Reads and locks the links with these ids or, prefixed with `ext_`, external ids, in this order. */
async function lockNamed(ctx: Ctx, names: string[]): Promise<LinkRow[]> {
  const selectors = [...new Set(names)].map(parseLinkName)
  const found = await selectNumbersByName(ctx.db, ctx.workspaceId, {
    ids: selectors.flatMap((selector) => ('id' in selector ? selector.id : [])),
    externalIds: selectors.flatMap((selector) => ('externalId' in selector ? selector.externalId : [])),
    hiddenFolders: hiddenFolders(ctx),
  })
  const rows = await lockLinkRows(
    ctx,
    found.map(({ number }) => number),
  )
  const byId = new Map(rows.map((row) => [row.id, row]))
  const byExternalId = new Map(rows.map((row) => [row.external_id, row]))
  const named = selectors.map((selector) =>
    'id' in selector
      ? byId.get(selector.id)
      : 'externalId' in selector
        ? byExternalId.get(selector.externalId)
        : undefined,
  )
  return [...new Set(named.filter((row) => row !== undefined))]
}

/**
 * Names the advisory locks for the keys and external ids of new links, so that two calls with the same ones in another
 * order do not deadlock. The names hash to sixteen locks, because PostgreSQL has memory for 64 locks per connection.
 */
function lockNamesFor(items: unknown[]): string[] {
  const names = items.flatMap((item) => {
    const { key, externalId } = (item ?? {}) as { key?: unknown; externalId?: unknown }
    const given = typeof key === 'string' ? [`key ${lookupKey(key)}`] : []
    return typeof externalId === 'string' ? [...given, `external id ${externalId}`] : given
  })
  return [...new Set(names.map((name) => hash('sha256', name).slice(0, 1)))]
}

/** Creates one link; an error undoes its writes only, and is returned. */
async function attempt(ctx: Ctx, input: NewLink): Promise<Link | AppError> {
  try {
    return await savepoint(ctx, (ctx) => createSlowly(ctx, input))
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
}
