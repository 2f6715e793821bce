import { chunks } from '../../platform/batches.ts'
import type { Platform } from '../../platform/context.ts'
import { type ClickCountryRow, type ClickDayRow, selectClickCountries, selectClickDays } from './store.ts'

type Reader = Pick<Platform, 'clickhouse'>
type LinkName = { workspaceId: string; linkNumber: string }
export type ClickDayProgress = {
  closed_day: string
  stored_until: Date
  target: { day: string; until: string; after?: LinkName }
  count: number
}

// A link has up to 250 countries a day, and late clicks are of up to 30 days.
const linksAtOnce = 100

export function readClickDays({ clickhouse }: Reader, progress: ClickDayProgress): Promise<ClickDayRow[]> {
  const { target, count } = progress
  const after = target.after ?? { workspaceId: '', linkNumber: '0' }
  return selectClickDays(clickhouse, { ...buildRange(progress), after, count })
}

export async function readClickCountries(
  { clickhouse }: Reader,
  progress: Omit<ClickDayProgress, 'count'>,
  links: LinkName[],
): Promise<ClickCountryRow[]> {
  const found: ClickCountryRow[] = []
  for (const some of chunks(links, linksAtOnce)) {
    const workspaceIds = [...new Set(some.map(({ workspaceId }) => workspaceId))]
    const linkNumbers = some.map(({ linkNumber }) => BigInt(linkNumber))
    found.push(...(await selectClickCountries(clickhouse, { ...buildRange(progress), workspaceIds, linkNumbers })))
  }
  return found
}

function buildRange({ closed_day, stored_until, target }: Omit<ClickDayProgress, 'count'>) {
  const stored = { storedAfter: stored_until.getTime(), storedUntil: Date.parse(target.until) }
  return { closedDay: closed_day, day: target.day, ...stored }
}
