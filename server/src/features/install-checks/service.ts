import { checkParameter, type InstallCheck, type NewInstallReport } from '@tributary/contract/install-checks'
import type { Config } from '../../platform/config.ts'
import type { Ctx, Platform } from '../../platform/context.ts'
import { AppError, notFound } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import { memoByObject } from '../../platform/memo.ts'
import { withParameters } from '../../platform/query-string.ts'
import { fetchPage } from '../metatags/service.ts'
import { notePageReport } from '../track/service.ts'
import { allowsPage } from '../workspaces/service.ts'
import { inspectPage } from './inspect.ts'
import { deleteOldChecks, type InstallCheckRow, insertCheck, selectCheck, updateReport } from './store.ts'

const waitMs = 3_600_000
const mostChecks = 20
/** A page that never answers must not take the turns of other workspaces. */
const mostAtOnce = 4
/** With this many checks of all workspaces at once, each workspace has only one. */
const crowd = 20
const longest = { host: 253, path: 500 }

/** Reads the page and waits for the report of its script. */
export async function createInstallCheck(ctx: Ctx, url: string): Promise<InstallCheck> {
  const page = inspectPage(url, await readPage(ctx, url), ctx.config.API_URL)
  const row = { id: newId('chk'), url, page, created_at: ctx.now() }
  await deleteOldChecks(ctx.db, ctx.workspaceId, mostChecks - 1)
  return present(ctx, await insertCheck(ctx.db, ctx.workspaceId, row))
}

const openTurns = memoByObject((_: Config) => ({ total: 0, perWorkspace: new Map<string, number>() }))

async function readPage(ctx: Ctx, url: string) {
  const turns = openTurns(ctx.config)
  const running = turns.perWorkspace.get(ctx.workspaceId) ?? 0
  const most = turns.total < crowd ? mostAtOnce : 1
  if (running >= most) {
    const pages = most === 1 ? 'one page at a time while many others do' : `at most ${most} pages at once`
    throw new AppError('rate_limit_exceeded', `A workspace checks ${pages}. Try again in 5 s.`)
  }
  turns.perWorkspace.set(ctx.workspaceId, running + 1)
  turns.total += 1
  try {
    return await fetchPage(ctx, url)
  } finally {
    turns.total -= 1
    const left = (turns.perWorkspace.get(ctx.workspaceId) ?? 1) - 1
    if (left > 0) turns.perWorkspace.set(ctx.workspaceId, left)
    else turns.perWorkspace.delete(ctx.workspaceId)
  }
}

export async function getInstallCheck(ctx: Ctx, id: string): Promise<InstallCheck> {
  const row = await selectCheck(ctx.db, ctx.workspaceId, id)
  if (!row) throw notFound('install check', id)
  return present(ctx, row)
}

/** Stores a report of a page's script. Anybody can send one, so an unknown check changes nothing and is no error. */
export async function reportInstall(platform: Platform, host: string, report: NewInstallReport): Promise<void> {
  const { check, version, isOff } = report
  const at = platform.now()
  const workspaceId = await updateReport(platform.db, check, new Date(at.getTime() - waitMs), {
    reported_at: at,
    host: host.slice(0, longest.host),
    path: cleanPath(report.path),
    version,
    is_off: isOff,
  })
  if (workspaceId === undefined) return
  const isAllowed = await allowsPage({ db: platform.db, workspaceId }, host)
  if (isAllowed && !isOff) await notePageReport(platform, workspaceId, host)
}

/** PostgreSQL rejects NUL characters and halves of surrogate pairs. */
function cleanPath(path: string): string {
  return path.slice(0, longest.path).replaceAll('\0', '\uFFFD').toWellFormed()
}

async function present(ctx: Ctx, row: InstallCheckRow): Promise<InstallCheck> {
  const { id, url, page, created_at, reported_at } = row
  return {
    id,
    url,
    checkUrl: withParameters(url, { [checkParameter]: id }),
    state: await findState(ctx, row),
    page,
    report: reported_at && {
      at: reported_at.toISOString(),
      host: row.host ?? '',
      path: row.path ?? '',
      version: row.version ?? '',
      isOff: row.is_off ?? false,
    },
    createdAt: created_at.toISOString(),
  }
}

async function findState(ctx: Ctx, row: InstallCheckRow): Promise<InstallCheck['state']> {
  if (row.reported_at) return (await allowsPage(ctx, row.host ?? '')) ? 'installed' : 'refused'
  return ctx.now().getTime() - row.created_at.getTime() > waitMs ? 'expired' : 'waiting'
}
