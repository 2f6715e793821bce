import { asSystem, type Ctx, type Platform } from '../../platform/context.ts'
import { AppError } from '../../platform/errors.ts'
import { isFolder } from '../folders/service.ts'
import { requireLinkAddress } from '../links/service.ts'
import { privateFolders } from '../members/service.ts'
import { findPublicSubject } from '../public-stats/service.ts'
import { viewsByIds } from '../views/service.ts'
import { findWorkspace, type Workspace } from '../workspaces/service.ts'
import { type Clock, type Periods, readPeriods } from './period.ts'
import { type ShareRow, selectVisitedShare } from './store.ts'
import { readViewQuery, type ViewFilter, type ViewQuery } from './view-query.ts'

/** What a visitor may read. */
export type OpenShare = {
  id: string
  /** Reads as the workspace, without the folders that are left out. */
  ctx: Ctx
  sealedPassword: Buffer | null
  title: string | null
  shortLink: string | null
  filter: ViewFilter
  periods: Periods
  clock: Clock
  currency: string
  showConversions: boolean
}
type Shown = Pick<OpenShare, 'title' | 'shortLink' | 'sealedPassword' | 'showConversions'>
type Found = Shown & { workspaceId: string; query: ViewQuery; hidden?: string[] }

const dayMs = 86_400_000

/** Opens a shared page. One that ended or was deleted gives the same error as one that never existed. */
export async function openShare(platform: Platform, id: string): Promise<OpenShare> {
  const share = await findShare(platform, id)
  if (!share) throw noSuchPage()
  return share
}

export async function findShare(platform: Platform, id: string): Promise<OpenShare | undefined> {
  const row = id.startsWith('share_') ? await selectVisitedShare(platform.db, id) : undefined
  const found = row ? await findShared(platform, row) : await findPublic(platform, id)
  const workspace = found && (await findWorkspace(platform, found.workspaceId))
  if (!workspace) return undefined
  const { workspaceId, hidden = [], query, ...shown } = found
  const folderAccess = hidden.length === 0 ? undefined : { hidden, readOnly: [] }
  const ctx = { ...asSystem(platform, workspaceId), plan: workspace.plan, ...(folderAccess && { folderAccess }) }
  const clock = readClock(ctx, query, workspace)
  const periods = readOwnPeriods(query, clock)
  return periods && { id, ctx, ...shown, filter: query.filter, clock, periods, currency: workspace.currency }
}

export function noSuchPage(): AppError {
  return new AppError('not_found', 'There are no shared statistics at this address.')
}

function readClock(ctx: Ctx, { timezone }: ViewQuery, { plan, time_zone, week_start: weekStart }: Workspace): Clock {
  const now = ctx.now()
  const days = ctx.config.HISTORY_DAYS_BY_PLAN[plan]
  const first = days === undefined ? null : new Date(now.getTime() - days * dayMs)
  return { now, timezone: timezone ?? time_zone, weekStart, first }
}

/** Undefined for a view whose period nobody can read. */
function readOwnPeriods({ period }: ViewQuery, clock: Clock): Periods | undefined {
  try {
    return readPeriods(period, clock)
  } catch (error) {
    if (error instanceof AppError) return undefined
    throw error
  }
}

/** The query of a link or folder. */
function queryFor(filter: { linkId: string } | { folderId: string }): ViewQuery {
  return { filter: { bots: 'exclude', ...filter }, period: { name: '30d' } }
}

/** Statistics that the field `publicStats` makes public: they have no title and no conversions. */
async function findPublic(platform: Platform, id: string): Promise<Found | undefined> {
  const subject = await findPublicSubject(platform, id)
  if (!subject) return undefined
  const { workspaceId, filter, shortLink, sealedPassword } = subject
  return { workspaceId, query: queryFor(filter), shortLink, sealedPassword, title: null, showConversions: false }
}

async function findShared(platform: Platform, row: ShareRow): Promise<Found | undefined> {
  if (row.ends_at !== null && row.ends_at <= platform.now()) return undefined
  const { workspace_id: workspaceId, title, sealed_password: sealedPassword, show_conversions: showConversions } = row
  const shown = { workspaceId, title, sealedPassword, showConversions, shortLink: null }
  const tenant = asSystem(platform, workspaceId)
  if (row.view_id !== null) {
    const view = (await viewsByIds(tenant, [row.view_id])).get(row.view_id)
    const query = view && readViewQuery(view.query)
    if (!query || 'problem' in query) return undefined
    return { ...shown, query, hidden: await privateFolders(tenant) }
  }
  if (row.folder_id !== null) {
    const isPresent = await isFolder(platform, workspaceId, row.folder_id)
    return isPresent ? { ...shown, query: queryFor({ folderId: row.folder_id }) } : undefined
  }
  const link = await requireLinkAddress(tenant, row.link_id ?? '', { isChange: false }).catch(ignoreMissing)
  return link && { ...shown, shortLink: link.shortLink, query: queryFor({ linkId: link.id }) }
}

function ignoreMissing(error: unknown): undefined {
  if (error instanceof AppError && error.code === 'not_found') return undefined
  throw error
}
