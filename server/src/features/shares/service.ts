import type { NewShare, Share, SharePatch, SharesQuery } from '@tributary/contract/shares'
import { type Ctx, findUserId } from '../../platform/context.ts'
import { conflict, notFound } from '../../platform/errors.ts'
import { randomText } from '../../platform/ids.ts'
import { transaction } from '../../platform/postgres.ts'
import { reportChange } from '../../platform/recording.ts'
import { sealStatsPassword } from '../public-stats/service.ts'
import { lockResource } from '../workspaces/service.ts'
import {
  countShares,
  deleteShareRow,
  insertShare,
  type ShareChanges,
  selectShare,
  selectShares,
  updateShareRow,
} from './store.ts'
import { type NamedShare, nameShares, requireSubject, requireSubjectWrite } from './subject.ts'

const mostShares = 200
// 142 random bits: nobody can guess the address of a page.
const idLength = 24

/** Lists a page of the shares that the caller sees, of all that the workspace can have. */
export async function listShares(ctx: Ctx, query: SharesQuery): Promise<Share[]> {
  const { viewId, linkId, folderId, page, pageSize } = query
  const rows = await selectShares(ctx.db, ctx.workspaceId, {
    subject: { view_id: viewId, link_id: linkId, folder_id: folderId },
    ...{ count: mostShares, ascending: query.sortOrder === 'asc' },
  })
  const seen = await nameShares(ctx, rows)
  return seen.slice((page - 1) * pageSize, page * pageSize).map((named) => present(ctx, named))
}

export async function getShare(ctx: Ctx, id: string): Promise<Share> {
  return present(ctx, await requireShare(ctx, id))
}

export async function createShare(ctx: Ctx, input: NewShare): Promise<Share> {
  return transaction(ctx, async (ctx) => {
    const subject = await requireSubject(ctx, input)
    await requireRoom(ctx)
    const id = `share_${randomText(idLength)}`
    const { title, endsAt, showConversions, password } = input
    const row = await insertShare(ctx.db, {
      ...{ id, workspace_id: ctx.workspaceId, ...subject, title, show_conversions: showConversions },
      sealed_password: password === null ? null : sealStatsPassword(ctx, id, password),
      ends_at: endsAt === null ? null : new Date(endsAt),
      created_by: findUserId(ctx.actor) ?? null,
    })
    reportChange(ctx, { id: shorten(id), after: row })
    return getShare(ctx, id)
  })
}

export async function updateShare(ctx: Ctx, id: string, patch: SharePatch): Promise<Share> {
  return transaction(ctx, async (ctx) => {
    const named = await requireShare(ctx, id)
    requireSubjectWrite(ctx, named)
    const { row } = named
    const changes = readChanges(ctx, id, patch)
    reportChange(ctx, { id: shorten(id), before: row, after: { ...row, ...changes } })
    if (Object.keys(changes).length > 0) await updateShareRow(ctx.db, ctx.workspaceId, id, changes)
    return getShare(ctx, id)
  })
}

export async function deleteShare(ctx: Ctx, id: string): Promise<{ id: string }> {
  return transaction(ctx, async (ctx) => {
    const named = await requireShare(ctx, id)
    requireSubjectWrite(ctx, named)
    reportChange(ctx, { id: shorten(id), before: named.row })
    await deleteShareRow(ctx.db, ctx.workspaceId, id)
    return { id }
  })
}

/** Reads a share that the caller sees; in a transaction, locks it. */
async function requireShare(ctx: Ctx, id: string): Promise<NamedShare> {
  const row = await selectShare(ctx.db, ctx.workspaceId, id)
  const [named] = row ? await nameShares(ctx, [row]) : []
  if (!named) throw notFound('share', id)
  return named
}

async function requireRoom(ctx: Ctx): Promise<void> {
  await lockResource(ctx, ctx.workspaceId, 'shares')
  if ((await countShares(ctx.db, ctx.workspaceId)) < mostShares) return
  throw conflict(`This workspace has ${mostShares} shares, which is the maximum. Delete some.`)
}

function readChanges(ctx: Ctx, id: string, { title, password, endsAt, showConversions }: SharePatch): ShareChanges {
  return {
    ...(title !== undefined && { title }),
    ...(password !== undefined && {
      sealed_password: password === null ? null : sealStatsPassword(ctx, id, password),
    }),
    ...(endsAt !== undefined && { ends_at: endsAt === null ? null : new Date(endsAt) }),
    ...(showConversions !== undefined && { show_conversions: showConversions }),
  }
}

/** The audit log names a share without the rest of its id, which is the secret of the page's address. */
function shorten(id: string): string {
  return `${id.slice(0, 'share_'.length + 6)}…`
}

/** The address of a public page. */
function pageUrl({ config }: Pick<Ctx, 'config'>, id: string): string {
  return `${config.API_URL.replace(/\/+$/, '')}/share/${id}`
}

function present(ctx: Ctx, { row, subject, name }: NamedShare): Share {
  const { id, title } = row
  return {
    ...{ id, url: pageUrl(ctx, id), ...subject, name, title },
    hasPassword: row.sealed_password !== null,
    endsAt: row.ends_at?.toISOString() ?? null,
    showConversions: row.show_conversions,
    userId: row.created_by,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  }
}
