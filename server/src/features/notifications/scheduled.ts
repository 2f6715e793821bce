import type { Platform } from '../../platform/context.ts'
import { transaction } from '../../platform/postgres.ts'
import { findWorkspace, type Workspace } from '../workspaces/service.ts'
import { lastDue, lastWeek, listDays, nextDue, type ScheduledKind } from './calendar.ts'
import { selectLinkDays } from './clicks-store.ts'
import { queueNotification } from './queue.ts'
import { findRecipients } from './recipients.ts'
import { presentFacts } from './sections/unusual-clicks.ts'
import { claimSchedule, deleteSchedule, moveSchedule } from './settings-store.ts'
import { comparedWeeks, findUnusual } from './unusual.ts'

const claimMs = 15 * 60_000
/** After a failure, so that a workspace whose figures can't be read delays no other. */
const retryMs = 60 * 60_000
const mostCandidates = 2_000
// More than an e-mail has, because each reader sees only some of the folders.
const mostUnusual = 100
const limits = {
  max_execution_time: 20,
  max_memory_usage: String(1_000_000_000),
  max_bytes_before_external_group_by: String(250_000_000),
}

/** Queues the notifications of one workspace that follow the clock. Returns whether there was one. */
export async function runDueSchedule(platform: Platform): Promise<boolean> {
  const now = platform.now()
  const schedule = await claimSchedule(platform.db, now, new Date(now.getTime() + claimMs))
  if (!schedule) return false
  const { workspace_id: workspaceId, kind } = schedule
  const workspace = await findWorkspace(platform, workspaceId)
  if (!workspace) return true
  const next = nextDue(kind, now, workspace.time_zone)
  try {
    await queueScheduled(platform, workspace, kind)
  } catch (error) {
    platform.log.warn({ workspaceId, kind, error: (error as Error).message }, 'scheduled notifications not queued')
    await moveSchedule(platform.db, workspaceId, kind, new Date(Math.min(now.getTime() + retryMs, next.getTime())))
    return true
  }
  await transaction({ ...platform, workspaceId }, async ({ db }) => {
    await moveSchedule(db, workspaceId, kind, next)
    await deleteSchedule(db, workspaceId, kind)
  })
  return true
}

async function queueScheduled(platform: Platform, workspace: Workspace, kind: ScheduledKind): Promise<void> {
  const { id: workspaceId, time_zone, week_start } = workspace
  if ((await findRecipients(platform, workspaceId, kind)).length === 0) return
  const due = lastDue(kind, platform.now(), time_zone)
  const about = { workspaceId, kind, subject: '' }
  if (kind === 'weekly_report') {
    await queueNotification(platform, { ...about, occasion: lastWeek(due, week_start) })
    return
  }
  // Nobody would see the result of a costly query.
  if (!platform.config.SMTP_URL) return
  const { date, days } = listDays(due, comparedWeeks)
  const candidates = await selectLinkDays(platform.clickhouse, { workspaceId, days, limit: mostCandidates }, limits)
  const unusual = findUnusual(candidates, mostUnusual)
  if (unusual.length > 0) await queueNotification(platform, { ...about, occasion: date, facts: presentFacts(unusual) })
}
