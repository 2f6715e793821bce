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
