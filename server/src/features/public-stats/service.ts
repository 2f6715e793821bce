import { type AnalyticsRow, analyticsQuery } from '@tributary/contract/analytics'
import {
  type PublicRow,
  type PublicStats,
  type PublicStatsChange,
  type PublicStatsQuery,
  type PublicStatsSettings,
  publicColumns,
} from '@tributary/contract/public-stats'
import { asSystem, type Ctx, type Platform } from '../../platform/context.ts'
import { AppError, invalid } from '../../platform/errors.ts'
import { transaction } from '../../platform/postgres.ts'
import { reportChange } from '../../platform/recording.ts'
import { seal } from '../../platform/seal.ts'
import { retrieveAnalytics } from '../analytics/service.ts'
import { isFolder, requireFolder } from '../folders/service.ts'
import { findPublicLink, updateLink } from '../links/service.ts'
import { requireWorkspace } from '../workspaces/service.ts'
import { type CheckPassword, openPasswordCheck, sealPurpose } from './password.ts'
import { selectPublicStats, upsertPublicStats } from './store.ts'

const mostRows = 100

/** Encrypts the password of statistics, of those with this id only. */
export function sealStatsPassword({ config }: Pick<Platform, 'config'>, id: string, password: string): Buffer {
  return seal(config.ENCRYPTION_KEYS, sealPurpose(id), password)
}

/** Checks passwords of public and shared statistics, and limits wrong ones. */
export const openStatsPasswords = openPasswordCheck

/** Turns public statistics on or off. For a link this sets its `publicStats`, like an update of the link does. */
export async function changePublicStats(ctx: Ctx, change: PublicStatsChange): Promise<PublicStatsSettings> {
  const { linkId, folderId, enabled, password } = change
  if ((linkId === undefined) === (folderId === undefined)) {
    throw invalid('The body must have either `linkId` or `folderId`. Send one of them.')
  }
  return transaction(ctx, async (ctx) => {
    const link = linkId === undefined ? undefined : await updateLink(ctx, linkId, { publicStats: enabled })
    if (folderId !== undefined) await requireFolder(ctx, folderId)
    const id = link?.id ?? (folderId as string)
    const sealed = typeof password === 'string' ? sealStatsPassword(ctx, id, password) : password
    const row = await upsertPublicStats(ctx.db, ctx.workspaceId, id, { enabled, password: sealed })
    reportChange(ctx, { id, after: { enabled, ...(password !== undefined && { password }) } })
    const hasPassword = row.sealed_password !== null
    return { linkId: link?.id ?? null, folderId: folderId ?? null, enabled, hasPassword }
  })
}

/** Returns public statistics. Reads the settings on each request, so that a change applies at once. */
export async function retrievePublicStats(
  platform: Platform,
  query: PublicStatsQuery,
  checkPassword: (subject: Parameters<CheckPassword>[0]) => Promise<void>,
): Promise<PublicStats> {
  const { workspaceId, id, filter } = await findSubject(platform, query)
  const settings = await selectPublicStats(platform.db, id)
  if (settings?.sealed_password) await checkPassword({ id, sealedPassword: settings.sealed_password })
  const { plan } = await requireWorkspace(platform, workspaceId)
  const { groupBy, interval, timezone } = query
  const ctx = { ...asSystem(platform, workspaceId), plan }
  const answer = await retrieveAnalytics(ctx, analyticsQuery.parse({ ...filter, groupBy, interval, timezone }))
  if (!Array.isArray(answer)) return { clicks: answer.clicks }
  const rows = groupBy === 'timeseries' ? answer.slice(-mostRows) : answer.slice(0, mostRows)
  return rows.map((row) => presentRow(row, publicColumns[groupBy as keyof typeof publicColumns]))
}

function presentRow(row: AnalyticsRow, column: (typeof publicColumns)[keyof typeof publicColumns]): PublicRow {
  return { [column]: String(row[column]), clicks: row.clicks }
}

function notPublic(subject: string): AppError {
  return new AppError('not_found', `There are no public statistics for ${subject}.`)
}

export type PublicSubject = {
  workspaceId: string
  filter: { linkId: string } | { folderId: string }
  shortLink: string | null
  sealedPassword: Buffer | null
}

/** Finds the link or folder with this id; undefined unless its statistics are public. */
export async function findPublicSubject(platform: Platform, id: string): Promise<PublicSubject | undefined> {
  const link = await findPublicLink(platform, { id })
  const settings = await selectPublicStats(platform.db, id)
  const sealedPassword = settings?.sealed_password ?? null
  if (link) return { workspaceId: link.workspaceId, filter: { linkId: id }, shortLink: link.shortLink, sealedPassword }
  if (!settings?.enabled || !(await isFolder(platform, settings.workspace_id, id))) return undefined
  return { workspaceId: settings.workspace_id, filter: { folderId: id }, shortLink: null, sealedPassword }
}

type Subject = { workspaceId: string; id: string; filter: { linkId: string } | { folderId: string } }

/** Finds the link or folder of public statistics. The same error for missing and private ones hides which exist. */
async function findSubject(platform: Platform, { domain, key, folderId }: PublicStatsQuery): Promise<Subject> {
  if (folderId !== undefined && domain === undefined && key === undefined) {
    const settings = await selectPublicStats(platform.db, folderId)
    if (!settings?.enabled) throw notPublic(`folder ${folderId}`)
    const { workspace_id: workspaceId } = settings
    if (await isFolder(platform, workspaceId, folderId)) return { workspaceId, id: folderId, filter: { folderId } }
    throw notPublic(`folder ${folderId}`)
  }
  if (folderId !== undefined || domain === undefined || key === undefined) {
    throw new AppError('bad_request', 'The query must have `domain` and `key`, or `folderId` alone.')
  }
  const link = await findPublicLink(platform, { domain, key })
  if (!link) throw notPublic(`link ${domain}/${key}`)
  return { workspaceId: link.workspaceId, id: link.id, filter: { linkId: link.id } }
}
