import type { LinkPatch } from '@tributary/contract/links'
import type { Ctx } from '../../platform/context.ts'
import { invalid } from '../../platform/errors.ts'
import { seal } from '../../platform/seal.ts'
import { requireFolder, requireFolderWrite } from '../folders/service.ts'
import { missingTagIds, tagIdsByNames } from '../tags/service.ts'
import { knownWebhookIds } from '../webhooks/service.ts'
import { type KnownPartners, partnerColumns, readPartners } from './partner-columns.ts'
import { linkColumns, requireSmallLink, type Settings } from './settings.ts'
import type { LinkColumns, LinkRow } from './store.ts'

/** What a patch refers to, read once for all links that it changes. */
export type Named = { tagIds: string[] | undefined; partners: KnownPartners }

/** The values that a patch changes in a link; without `tagIds`, its tags stay. */
export type PlannedChange = { columns: Partial<LinkColumns>; tagIds?: string[] }

/** Reads what the patch refers to. Throws when it refers to something that does not exist. */
export async function readNamed(ctx: Ctx, patch: Settings): Promise<Named> {
  const partners = await readPartners(ctx, [patch])
  const tagIds = await resolveTags(ctx, patch)
  await checkNamed(ctx, patch)
  return { tagIds, partners }
}

/** Compares a link with a patch; `address` has the columns of a new domain and key. Throws when the result is invalid. */
export function planChange(
  ctx: Pick<Ctx, 'config' | 'now' | 'folderAccess' | 'actor'>,
  link: LinkRow,
  patch: Settings,
  { tagIds, partners }: Named,
  address: Partial<LinkColumns> = {},
): PlannedChange {
  requireFolderWrite(ctx, link.folder_id)
  const columns: Partial<LinkColumns> = {
    ...linkColumns(patch, patch.url ?? link.url, ctx.now()),
    ...partnerColumns(ctx, patch, partners, link),
    ...sealed(ctx, link.id, patch),
    ...address,
  }
  const changed = Object.fromEntries(Object.entries(columns).filter(([name, value]) => differs(link, name, value)))
  requireSmallLink(ctx.config, { ...link, ...changed }, link)
  const isRetagged = tagIds !== undefined && tagIds.join() !== link.tag_ids.join()
  return { columns: changed, ...(isRetagged && { tagIds }) }
}

/** Encrypts a link's password with the link's id. It is not hashed, because the API can return it. */
export function sealed(
  ctx: Pick<Ctx, 'config'>,
  id: string,
  { password }: Pick<LinkPatch, 'password'>,
): Partial<LinkColumns> {
  if (password === undefined) return {}
  return { sealed_password: password ? seal(ctx.config.ENCRYPTION_KEYS, id, password) : null }
}

export async function checkNamed(ctx: Ctx, { folderId, webhookIds }: Pick<LinkPatch, 'folderId' | 'webhookIds'>) {
  if (folderId) await requireFolder(ctx, folderId)
  const known = await knownWebhookIds(ctx, webhookIds ?? [])
  const missing = webhookIds?.filter((id) => !known.has(id)) ?? []
  if (missing.length > 0)
    throw invalid(`\`webhookIds\` in the body names webhooks that do not exist: ${missing.slice(0, 10).join(', ')}.`)
}

/** The ids of the tags in the input; undefined when it has no tag field. */
export async function resolveTags(
  ctx: Ctx,
  input: Pick<LinkPatch, 'tagId' | 'tagIds' | 'tagNames'>,
): Promise<string[] | undefined> {
  const ids = input.tagIds ?? (input.tagId === undefined ? undefined : (input.tagId ?? []))
  if (ids !== undefined) {
    const unique = [...new Set([ids].flat().filter(Boolean))]
    const missing = await missingTagIds(ctx, unique)
    if (missing.length > 0)
      throw invalid(`\`tagIds\` in the body names tags that do not exist: ${missing.slice(0, 10).join(', ')}.`)
    return unique
  }
  if (input.tagNames === undefined) return undefined
  const { found, missing } = await tagIdsByNames(ctx, [input.tagNames].flat())
  if (missing.length > 0)
    throw invalid(`\`tagNames\` in the body names tags that do not exist: ${missing.slice(0, 10).join(', ')}.`)
  return [...new Set(found)]
}

function differs(link: LinkRow, name: string, value: unknown): boolean {
  const current = link[name as keyof LinkRow]
  if (current instanceof Date && value instanceof Date) return current.getTime() !== value.getTime()
  // Encryption is randomized, so equal passwords can't be compared: treat any password as changed.
  if (name === 'sealed_password') return !(current === null && value === null)
  return JSON.stringify(current ?? null) !== JSON.stringify(value ?? null)
}
