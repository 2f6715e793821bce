import type { OperationAnswer } from '@tributary/contract/client'

export type Usage = OperationAnswer<'getWorkspaceUsage'>
export type UsageNoun = Exclude<keyof Usage, 'plan' | 'month' | 'events' | 'eventsByDay'>

/** What has a limit, in the order of the table. */
export const usageNouns = [
  'links',
  'domains',
  'folders',
  'tags',
  'customers',
  'partners',
  'members',
  'keys',
  'webhooks',
  'webhookBytes',
] as const satisfies readonly UsageNoun[]

/** The used share of a limit in percent; undefined without a limit. */
export function usedPercent({ used, limit }: Usage[UsageNoun]): number | undefined {
  if (limit === null) return undefined
  return limit === 0 ? 100 : Math.min(100, (used / limit) * 100)
}

/** How close a limit is: from 80 % on it deserves a look, and at the limit nothing can be added. */
export function usageState(percent: number | undefined): 'low' | 'high' | 'full' {
  if (percent === undefined || percent < 80) return 'low'
  return percent < 100 ? 'high' : 'full'
}

/** Bytes in a unit that people read: 12.4 MB. */
export function formatBytes(bytes: number, locale: string): string {
  const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte'] as const
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3))
  const unit = units[power] ?? 'byte'
  const format = { style: 'unit', unit, unitDisplay: 'short', maximumFractionDigits: 1 } as const
  return new Intl.NumberFormat(locale, format).format(bytes / 1_000 ** power)
}
