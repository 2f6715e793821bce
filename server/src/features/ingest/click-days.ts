import type { Platform } from '../../platform/context.ts'
import { hashPartition } from '../../platform/ids.ts'
import { publish } from '../../platform/outbox.ts'
import { transaction } from '../../platform/postgres.ts'
import { startInterval } from '../../platform/schedule.ts'
import { type ClickDay, clickCountries, clickDays } from '../event-storage/service.ts'
import { linksWithPartner } from '../links/service.ts'
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
const countriesPerMessage = 20_000
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
  const counted = await withCountries(platform, { ...progress, target }, whole)
  await transaction(platform, async (platform) => {
    const reached = whole.at(-1)
    const isMine = isEnd
      ? await finishClickDays(platform.db, target)
      : await advanceClickDays(platform.db, target, { ...target, after: reached && linkName(reached) })
    if (isMine) await publishDays(platform, counted, progress)
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

type CountedDay = ClickDay & { countries?: Record<string, number> }

/** Adds the clicks by country to the days of partners' links: what a click earns may depend on it. */
async function withCountries(
  platform: Platform,
  progress: Parameters<typeof clickCountries>[1],
  days: ClickDay[],
): Promise<CountedDay[]> {
  const links = new Map(days.map((day) => [BigInt(day.linkNumber), day]))
  const owned = await linksWithPartner(platform, [...links.keys()])
  const named = owned.flatMap((number) => links.get(number) ?? [])
  const rows = named.length === 0 ? [] : await clickCountries(platform, progress, named)
  const byDay = Map.groupBy(rows, nameDay)
  return days.map((day) => {
    const mine = byDay.get(nameDay(day)) ?? []
    const countries = mine.map(({ country, clicks }) => [country === 'Unknown' ? '' : country, Number(clicks)] as const)
    const sum = countries.reduce((sum, [, clicks]) => sum + clicks, 0)
    return sum === day.clicks ? { ...day, countries: Object.fromEntries(countries) } : day
  })
}

function nameDay({ linkNumber, day }: Pick<ClickDay, 'linkNumber' | 'day'>): string {
  return `${linkNumber} ${day}`
}

async function publishDays(platform: Platform, days: CountedDay[], progress: ClickDayProgress): Promise<void> {
  const { until = '' } = progress.target ?? {}
  for (const [workspaceId, mine] of Map.groupBy(days, (day) => day.workspaceId)) {
    const partition = hashPartition(workspaceId, platform.config.EVENT_PARTITIONS)
    const described = mine.map(({ day, linkNumber, clicks, countries }) => {
      const isLate = day <= progress.closed_day
      return { id: `${day}:${linkNumber}:${until}`, day, linkNumber, clicks, isLate, ...(countries && { countries }) }
    })
    for (const days of splitMessages(described))
      await publish({ db: platform.db, workspaceId }, clickDaysMessage({ workspaceId, days }, partition))
  }
}

/** Splits days into messages with up to 500 of them, and so many countries that a message stays below 500 kB. */
function* splitMessages<Day extends Pick<CountedDay, 'countries'>>(days: Day[]): Generator<Day[]> {
  let part: Day[] = []
  let count = 0
  for (const day of days) {
    const countries = Object.keys(day.countries ?? {}).length
    if (part.length === daysPerMessage || count + countries > countriesPerMessage) {
      yield part
      part = []
      count = 0
    }
    part.push(day)
    count += countries
  }
  if (part.length > 0) yield part
}

function linkName({ workspaceId, linkNumber }: ClickDay): NonNullable<ClickDayTarget['after']> {
  return { workspaceId, linkNumber }
}
