import type { Platform } from '../../platform/context.ts'
import { historyDays } from '../workspaces/service.ts'

type Expiring = { workspace_id: string; timestamp: number; expires_on?: string }

const dayMs = 24 * 3_600_000
// The last day of ClickHouse's `Date` type: a row with it never expires.
const lastDay = 65_535

/** Sets `expires_on` of event rows in place: copying the rows would cost as much as building them. */
export async function stampExpiry(platform: Pick<Platform, 'db' | 'config'>, clicks: Expiring[]): Promise<void> {
  if (clicks.length === 0) return
  const days = await historyDays(platform, new Set(clicks.map(({ workspace_id }) => workspace_id)))
  const dayNames = new Map<number, string>()
  for (const click of clicks) {
    const history = days.get(click.workspace_id)
    const day = history === undefined ? lastDay : Math.min(Math.floor(click.timestamp / dayMs) + history + 1, lastDay)
    const text = dayNames.get(day) ?? dayText(day)
    dayNames.set(day, text)
    click.expires_on = text
  }
}

function dayText(day: number): string {
  return new Date(day * dayMs).toISOString().slice(0, 10)
}

export function isRetained({ expires_on }: Expiring): boolean {
  return expires_on !== undefined && expires_on > dayText(Math.floor(Date.now() / dayMs))
}
