import { hash } from 'node:crypto'
import { type BulkUpdate, type Link, type LinkError, linkBody, type NewLink, newLink } from '@tributary/contract/links'
import { nestingProblem } from '../../platform/body.ts'
import type { Ctx } from '../../platform/context.ts'
import { AppError, badRequest, invalid } from '../../platform/errors.ts'
import { savepoint, transaction } from '../../platform/postgres.ts'
import { parse } from '../../platform/validation.ts'
import { requireFolderWrite } from '../folders/service.ts'
import { findLinkForUpdate } from './access.ts'
import { createAtOnce, createSlowly } from './create.ts'
import { lookupKey } from './key.ts'
import { presentAll } from './present.ts'
import { parseLinkName } from './settings.ts'
import { type LinkRow, type LinkSelector, lockNames } from './store.ts'
import { changeLink, removeLinks } from './write.ts'

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
  const selectors = linkIds?.map(parseLinkName) ?? externalIds?.map((externalId) => ({ externalId }))
  if (!selectors?.length) throw badRequest('The body must have `linkIds` or `externalIds`.')
  return transaction(ctx, async (ctx) => {
    const changed = new Map<string, LinkRow>()
    const names = selectors.map((selector) => JSON.stringify(selector))
    // Lock links in sorted order, so that two concurrent calls for the same links can't deadlock.
    for (const name of [...new Set(names)].sort()) {
      const link = await findLinkForUpdate(ctx, JSON.parse(name) as LinkSelector)
      if (link) changed.set(name, await changeLink(ctx, link, data))
    }
    return presentAll(
      ctx,
      [...new Set(names)].flatMap((name) => changed.get(name) ?? []),
    )
  })
}

/** Deletes links by id or external id in one transaction. Skips unknown links. */
export async function deleteLinks(ctx: Ctx, names: string[]): Promise<{ deletedCount: number }> {
  return transaction(ctx, async (ctx) => {
    const numbers: bigint[] = []
    // Lock links in sorted order, so that two concurrent bulk calls for the same links can't deadlock.
    for (const name of [...new Set(names)].sort()) {
      const link = await findLinkForUpdate(ctx, parseLinkName(name))
      if (!link) continue
      requireFolderWrite(ctx, link.folder_id)
      numbers.push(link.number)
    }
    return { deletedCount: (await removeLinks(ctx, numbers)).length }
  })
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
