import { chunks } from '../../platform/batches.ts'
import type { Platform } from '../../platform/context.ts'
import { hashPartition } from '../../platform/ids.ts'
import { publish } from '../../platform/outbox.ts'
import { transaction } from '../../platform/postgres.ts'
import { startInterval } from '../../platform/schedule.ts'
import { type ClickDay, clickDays } from '../event-storage/service.ts'
import { betweenAllBatches } from './between-batches.ts'
import { clickDaysMessage } from './messages.ts'
import {
  advanceClickDays,
  type ClickDayProgress,
  type ClickDayTarget,
  finishClickDays,
  insertClickDays,
  selectClickDays,
  startClickDays,
} from './store.ts'

const dayMs = 86_400_000
// A day closes six hours late, so that its first event includes clicks spooled during an outage of a few hours.
const closesAfterMs = 6 * 3_600_000
const lateIntervalMs = 3_600_000
// The worker sets `stored_at` of click rows, and its clock may be behind by this much.
const skewMs = 60_000
const linksAtOnce = 5_000
const daysPerMessage = 500
const checkIntervalMs = 60_000

export function startClickDayClosing(platform: Platform): AsyncDisposable {
  return startInterval(platform, 'close click days', checkIntervalMs, async (signal) => {
    while (!signal.aborted && (await closeSome(platform)));
  })
}

/**
 * Publishes the next page of daily click counts per link, and begins with a new day when one is due. Returns false when
 * there is nothing to publish.
 */
export async function closeSome(platform: Platform): Promise<boolean> {
  const progress = await selectClickDays(platform.db)
  if (!progress) {
    await insertClickDays(platform.db, lastClosedDay(platform.now()), new Date(platform.now().getTime() - skewMs))
    return false
  }
  if (!progress.target) return begin(platform, progress)
  const { target } = progress
  const found = await clickDays(platform, { ...progress, target, count: linksAtOnce })
  const isEnd = found.length < linksAtOnce
  // This page may end amid the days of its last link, so the next page reads all days of that link again.
  const last = found.at(-1)
  const isOfLast = (day: ClickDay) => day.workspaceId === last?.workspaceId && day.linkNumber === last.linkNumber
  const whole = isEnd ? found : found.filter((day) => !isOfLast(day))
  await transaction(platform, async (platform) => {
    const reached = whole.at(-1)
    const isMine = isEnd
      ? await finishClickDays(platform.db, target)
      : await advanceClickDays(platform.db, target, { ...target, after: reached && linkName(reached) })
    if (isMine) await publishDays(platform, whole, progress)
  })
  return true
}

/** Begins a run while no click batch is running, so that each click is stored clearly before or after that moment. */
async function begin(platform: Platform, progress: ClickDayProgress): Promise<boolean> {
  const day = lastClosedDay(platform.now())
  const isNewDay = day > progress.closed_day
  const isLateDue = platform.now().getTime() - progress.stored_until.getTime() > lateIntervalMs
  if (!isNewDay && !isLateDue) return false
  return betweenAllBatches(platform, async ({ db }) => {
    const until = new Date(platform.now().getTime() - skewMs).toISOString()
    return startClickDays(db, { day: isNewDay ? day : progress.closed_day, until })
  })
}

/** The last UTC day that ended long enough ago for its click counts to be published. */
export function lastClosedDay(now: Date): string {
  return new Date(now.getTime() - closesAfterMs - dayMs).toISOString().slice(0, 10)
}

async function publishDays(platform: Platform, days: ClickDay[], progress: ClickDayProgress): Promise<void> {
  const { until = '' } = progress.target ?? {}
  for (const [workspaceId, mine] of Map.groupBy(days, (day) => day.workspaceId)) {
    const partition = hashPartition(workspaceId, platform.config.EVENT_PARTITIONS)
    const described = mine.map(({ day, linkNumber, clicks }) => {
      return { id: `${day}:${linkNumber}:${until}`, day, linkNumber, clicks, isLate: day <= progress.closed_day }
    })
    for (const days of chunks(described, daysPerMessage))
      await publish({ db: platform.db, workspaceId }, clickDaysMessage({ workspaceId, days }, partition))
  }
}

function linkName({ workspaceId, linkNumber }: ClickDay): NonNullable<ClickDayTarget['after']> {
  return { workspaceId, linkNumber }
}
